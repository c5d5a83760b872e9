package jsonrpc

import (
	"strings"
	"testing"
)

func TestParseMessage(t *testing.T) {
	for _, tt := range []struct {
		line   string
		class  Class
		id     string
		method string
		why    string
		twice  bool
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, ClassRequest, "1", "ping", "", false},
		{`{"id":"a\u0062","method":"ping"}`, ClassRequest, `"a\u0062"`, "ping", "", false},
		{`{"id":123456789012345678901234567890,"method":"x"}`, ClassRequest, "123456789012345678901234567890", "x", "", false},
		{`{"id":1,"id":2,"method":"x"}`, ClassRequest, "1", "x", "", true},
		{`{"id":1,"method":"x","params":{"a":1,"a":2}}`, ClassRequest, "1", "x", "", true},
		{`{"id":1,"method":"x","result":{}}`, ClassRequest, "1", "x", "", false},
		{`{"id":1.0,"method":"x"}`, ClassInvalid, "1.0", "x", "the id is a fraction", false},
		{`{"id":null,"method":"x"}`, ClassInvalid, "null", "x", "the id is a null", false},
		{`{"id":{"a":[1]},"method":"x"}`, ClassInvalid, `{"a":[1]}`, "x", "the id is a object", false},
		{`{"id":1,"method":7}`, ClassInvalid, "1", "", "the method is a number", false},
		{`{"method":"x"}`, ClassNotification, "", "x", "", false},
		{`{"id":1,"result":{}}`, ClassResponse, "1", "", "", false},
		{`{"id":null,"error":{"code":-32700,"message":"x"}}`, ClassResponse, "null", "", "", false},
		{`{"error":{}}`, ClassInvalid, "", "", "a response without an id", false},
		{`{"id":1,"result":1,"error":2}`, ClassResponse, "1", "", "", false},
		{`{}`, ClassInvalid, "", "", "neither method nor result nor error", false},
		{`[]`, ClassBatch, "", "", "", false},
		{`[1,2]`, ClassBatch, "", "", "", false},
		{`7`, ClassInvalid, "", "", "a number is no message", false},
		{`{bad`, ClassInvalid, "", "", "not JSON", false},
		{``, ClassInvalid, "", "", "not JSON", false},
		{"{\"method\":\"\xff\"}\r", ClassNotification, "", "\xff", "", false},
	} {
		m := Parse([]byte(tt.line))
		if m.Class != tt.class || m.ID != tt.id || m.Method != tt.method || m.Twice != tt.twice || !strings.HasPrefix(m.Why, tt.why) || (m.Why == "") != (tt.why == "") {
			t.Errorf("%s is %+v", tt.line, m)
		}
	}
}

func TestIDs(t *testing.T) {
	for _, tt := range []struct {
		id    string
		want  int64
		exact bool
		loose bool
	}{
		{"1000001", 1000001, true, true},
		{`"1000001"`, 1000001, false, true},
		{`" 1000001 "`, 1000001, false, true},
		{"1000001.0", 1000001, false, true},
		{"1.000001e6", 1000001, false, true},
		{`"x"`, 0, false, false},
		{`""`, 0, false, false},
		{"null", 0, false, false},
		{"1000001.5", 0, false, false},
		{"99999999999999999999", 0, false, false},
		{"", 0, false, false},
	} {
		n, ok := IntegerID(tt.id)
		if ok != tt.exact || ok && n != tt.want {
			t.Errorf("%s is exactly %d, %v", tt.id, n, ok)
		}
		n, ok = LooseID(tt.id)
		if ok != tt.loose || ok && n != tt.want {
			t.Errorf("%s is loosely %d, %v", tt.id, n, ok)
		}
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"5", `"5"`, true}, {"5", "5.0", true}, {"9007199254740993", "9007199254740992", true}, {`"é"`, `"\u00e9"`, true},
		{"5", "6", false}, {`"a"`, `"b"`, false}, {"null", "0", false}, {"{}", "{}", true}, {`""`, "null", false},
	} {
		if got := SameLoosely(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
	for line, want := range map[string]int64{
		`{"jsonrpc":"2.0","id":1000007,"result":{bad`:               1000007,
		`{"result":` + strings.Repeat("[", 500) + `,"id": 1000008}`: 1000008,
		`"id":x`: 0, `nothing`: 0,
	} {
		if got, _ := SalvageID([]byte(line)); got != want {
			t.Errorf("%.40s: the id is %d", line, got)
		}
	}
}
