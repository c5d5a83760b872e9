package script

import (
	"testing"
)

func TestRenumber(t *testing.T) {
	later := func(k int) int { return k + 9 }
	lost := func(k int) int {
		if k == 1 {
			return Gone
		}
		return k
	}
	for _, test := range []struct {
		line string
		move func(int) int
		want string
	}{
		{`{"id":"@id"}`, later, `{"id":"@id"}`},
		{`{"a":"@id:1"}`, later, `{"a":"@id:10"}`},
		{`{"a":"@id:1:s"}`, later, `{"a":"@id:10:s"}`},
		{`{"a":"@{1:/x}@{2:/y#3}"}`, later, `{"a":"@{10:/x}@{11:/y#3}"}`},
		{`{"a":"@id:1","b":"@id:1:s","c":"@id:0"}`, lost, `{"a":0,"b":0,"c":"@id:0"}`},
		{`{"a":"x@{1:/x}y"}`, lost, `{"a":"xy"}`},
		{`@{1:/x}`, later, `@{10:/x}`},
		{`{"a":"@{canary:rel}@{canary}"}`, later, `{"a":"@{canary:rel}@{canary}"}`},
		{`@id:1`, later, `@id:1`},
		{`"@id:1`, later, `"@id:1`},
		{`"@id:"`, later, `"@id:"`},
		{`@{1`, later, `@{1`},
		{`@{1:`, later, `@{1:`},
		{`@{:/x}`, later, `@{:/x}`},
		{`@@{0:/x}`, later, `@@{9:/x}`},
		{`"@{99999999999999999999:/x}"`, later, `"@{99999999999999999999:/x}"`},
	} {
		if got := string(Renumber([]byte(test.line), test.move)); got != test.want {
			t.Errorf("%s became %s, want %s", test.line, got, test.want)
		}
	}
}
