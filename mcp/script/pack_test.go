package script

import (
	"reflect"
	"testing"
)

func TestPack(t *testing.T) {
	in := Script{Start: Shared, Check: "repeat", Steps: []Step{
		{Line: []byte("line"), NoWait: true, Times: 1000}, {NoNewline: true}, {Line: []byte("x"), Close: true},
	}}
	if out := Unpack(AppendPacked(nil, &in)); !reflect.DeepEqual(in, out) {
		t.Errorf("%+v became %+v", in, out)
	}
}
