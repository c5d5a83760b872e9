package dialogue

import (
	"strings"
	"testing"
)

func TestCodecKeepsRawDialogues(t *testing.T) {
	d := Raw([]byte("USER anonymous\r\n"), []byte{0, 0xff, '<'}, nil)
	d.Messages[1].NoWait, d.Messages[2].Reconnect = true, true
	data, err := Codec{}.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"teasel-dialogue":1,"messages":[
{"text":"USER anonymous\r\n"},
{"hex":"00ff3c","nowait":true},
{"text":"","reconnect":true}]}`
	if string(data) != want {
		t.Errorf("encoded as\n%s\nexpected\n%s", data, want)
	}
	back, err := Codec{}.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Codec{}.Encode(back)
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != want {
		t.Errorf("encoded again as\n%s", again)
	}
}

func TestCodecRefuses(t *testing.T) {
	for _, test := range []struct{ name, data, want string }{
		{"no JSON", `{`, "reading a dialogue"},
		{"no version", `{"messages":[]}`, "version 0"},
		{"a newer version", `{"teasel-dialogue":2}`, "version 2"},
		{"an unknown name", `{"teasel-dialogue":1,"mesages":[]}`, "mesages"},
		{"text and hex", `{"teasel-dialogue":1,"messages":[{"text":"a","hex":"00"}]}`, "message 1: it has both"},
		{"odd hex", `{"teasel-dialogue":1,"messages":[{},{"hex":"0"}]}`, "message 2: hex"},
	} {
		if _, err := (Codec{}).Decode([]byte(test.data)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, expected %q in it", test.name, err, test.want)
		}
	}
}
