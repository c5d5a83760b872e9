package agent_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/teaselfuzz/teasel/gofunc/agent"
)

func ExampleSplit() {
	kinds := agent.ParseKinds("int16,string,[]uint8")
	in := []byte("\x05\x00\x02\x00\x00\x00abrest") // 5, "ab", rest
	for i, part := range agent.Split(kinds, in, nil) {
		fmt.Printf("%v %q\n", kinds[i], kinds[i].Value(part))
	}
	// Output:
	// int16 '\x05'
	// string "ab"
	// []uint8 "rest"
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		kinds, in string
		want      []string
	}{
		{"[]uint8", "abc", []string{"abc"}},
		{"[]uint8", "", []string{""}},
		{"int32,string", "\x01\x00\x00\x00abc", []string{"\x01\x00\x00\x00", "abc"}},
		{"string,int32", "\x01\x00\x00\x00abc", []string{"abc", "\x01\x00\x00\x00"}},
		{"int32", "\x01", []string{"\x01"}},
		{"string,string", "\x02\x00\x00\x00abcd", []string{"ab", "cd"}},
		{"string,string", "\xff\xff\xff\xffabcd", []string{"abcd", ""}}, // a length beyond the end
		{"string,string", "\x02\x00", []string{"", ""}},
		{"string,bool,string", "\x01\x01\x00\x00\x00ab", []string{"a", "\x01", "b"}},
	} {
		var got []string
		for _, part := range agent.Split(agent.ParseKinds(c.kinds), []byte(c.in), nil) {
			got = append(got, string(part))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("Split(%s, %q) = %q, want %q", c.kinds, c.in, got, c.want)
		}
	}
}

// Whatever the bytes, there is a value of the right type for each argument.
func FuzzSplit(f *testing.F) {
	f.Add("string,int,[]uint8", []byte("abcdefghijklmnop"))
	f.Fuzz(func(t *testing.T, names string, in []byte) {
		kinds := agent.ParseKinds(names)
		before := bytes.Clone(in)
		for i, part := range agent.Split(kinds, in, nil) {
			v := kinds[i].Value(part)
			if kinds[i] != agent.KindInvalid && reflect.TypeOf(v).String() != kinds[i].String() {
				t.Errorf("%T, want %v", v, kinds[i])
			}
		}
		if !bytes.Equal(in, before) {
			t.Error("the input was changed")
		}
	})
}
