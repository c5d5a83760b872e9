package fuzztest_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/mutate"
)

func ExampleCodec() {
	c := fuzztest.Codec{Kinds: agent.ParseKinds("string,int")}
	in, err := c.Decode([]byte("go test fuzz v1\nstring(\"abc\")\nint(-5)\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	data, _ := c.Encode(in)
	fmt.Printf("%q\n%s", in, data)
	// Output:
	// "\xfb\xff\xff\xff\xff\xff\xff\xffabc"
	// go test fuzz v1
	// string("abc")
	// int(-5)
}

const allTypes = "[]uint8,string,bool,int8,int16,int32,int64,int,uint8,uint16,uint32,uint64,uint,float32,float64,string"

// What is written is read again as the same, for every type and whatever the values.
func TestCodecRoundTrip(t *testing.T) {
	kinds := agent.ParseKinds(allTypes)
	c := fuzztest.Codec{Kinds: kinds}
	m := fuzztest.NewMutator(kinds, &mutate.Bytes{})
	r := rand.New(rand.NewPCG(1, 2))
	in := m.Generate(r)
	for range 500 {
		data, err := c.Encode(in)
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.Decode(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if data2, err := c.Encode(again); err != nil || !bytes.Equal(data, data2) {
			t.Fatalf("%v\n%s\nis read as\n%s", err, data, data2)
		}
		in = m.Mutate(r, nil, again)
	}
}

func TestCodecErrors(t *testing.T) {
	for _, c := range []struct{ kinds, text, want string }{
		{"[]uint8", "", "line 0: expected 1 arguments, found 0"},
		{"[]uint8", "go test fuzz v2\n[]byte(\"\")\n", "line 1: expected \"go test fuzz v1\""},
		{"[]uint8", "go test fuzz v1\n[]byte(5)\n", "line 2:"},
		{"[]uint8", "go test fuzz v1\n\nint(5)\n", "line 3:"},
		{"int8", "go test fuzz v1\nint8(300)\n", "out of range"},
		{"bool", "go test fuzz v1\nbool(maybe)\n", "true or false"},
		{"[]uint8", "go test fuzz v1\n[]byte(\"a\")\n[]byte(\"b\")\n", "line 3: expected 1 arguments, found more"},
		{"string,int", "go test fuzz v1\nstring(\"a\")\n", "expected 2 arguments, found 1"},
	} {
		_, err := fuzztest.Codec{Kinds: agent.ParseKinds(c.kinds)}.Decode([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// extremes are the values of each kind that are easily lost on the way to a file and back.
func extremes(k agent.Kind) (parts [][]byte) {
	if k.Size() == 0 {
		return [][]byte{{}, {0}, []byte("\xff\xfe"), []byte("\xed\xa0\x80"), []byte("\xef\xbf\xbd"), []byte("\u2028\r\n\t\"`\\'\x7f"), []byte("\xf4\x90\x80\x80"), []byte("a\x00b")}
	}
	for _, x := range []uint64{0, 1, 0xff, 0x7f, 0x80, 0x8000, 0x7fff, 0xd800, 0xdfff, 0xfffd, 0x10ffff, 0x110000, 0x7fffffff, 0x80000000, 0xffffffff,
		1<<53 + 1, 1<<63 - 1, 1 << 63, math.MaxUint64,
		0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0x7fc00001, 0xffc00000, 0x00000001, // of float32: infinities, NaNs, the smallest
		0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000, 0x7ff8000000000001, 0xfff8000000000001, 0x3fb999999999999a} {
		if k == agent.KindBool {
			x &= 1
		}
		parts = append(parts, binary.LittleEndian.AppendUint64(nil, x)[:k.Size()])
	}
	return parts
}

// printed is a value as the test below prints it: with all of its bits, and nil told apart from empty.
func printed(v any) string {
	switch v := v.(type) {
	case float32:
		return fmt.Sprintf("%T %#x", v, math.Float32bits(v))
	case float64:
		return fmt.Sprintf("%T %#x", v, math.Float64bits(v))
	case []byte:
		return fmt.Sprintf("%T %t %q", v, v == nil, v)
	}
	return fmt.Sprintf("%T %#v", v, v)
}

const printer = `
func printed(v any) string {
	switch v := v.(type) {
	case float32:
		return fmt.Sprintf("%T %#x", v, math.Float32bits(v))
	case float64:
		return fmt.Sprintf("%T %#x", v, math.Float64bits(v))
	case []byte:
		return fmt.Sprintf("%T %t %q", v, v == nil, v)
	}
	return fmt.Sprintf("%T %#v", v, v)
}
`

// What a test process of ours runs, what is written to a corpus file and read again, and what plain go test runs of that file are the
// same values, for every type, to the last bit.
func TestCodecIsExact(t *testing.T) {
	dir := t.TempDir()
	test := "package m\n\nimport (\n\t\"fmt\"\n\t\"hash/crc32\"\n\t\"math\"\n\t\"testing\"\n)\n" + printer
	kinds := agent.ParseKinds(allTypes)
	for i, k := range kinds[:len(kinds)-1] {
		test += fmt.Sprintf("\nfunc Fuzz%d(f *testing.F) {\n\tf.Fuzz(func(t *testing.T, a %v) { t.Fatal(\"got\", printed(a), \".\") })\n}\n", i, k)
	}
	test += "\nfunc FuzzAll(f *testing.F) {\n\tf.Fuzz(func(t *testing.T"
	var names []string
	for i, k := range kinds {
		test += fmt.Sprintf(", a%d %v", i, k)
		names = append(names, fmt.Sprintf("printed(a%d)", i))
	}
	test += fmt.Sprintf(") { t.Fatal(\"got\", crc32.ChecksumIEEE([]byte(%s)), \".\") })\n}\n", strings.Join(names, "+"))
	files := map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m_test.go": test}

	type input struct {
		test string
		c    fuzztest.Codec
		in   []byte
		file string
	}
	var inputs []input
	add := func(test string, kinds []agent.Kind, in []byte) {
		c := fuzztest.Codec{Kinds: kinds}
		data, err := c.Encode(in)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "fuzz", test, teasel.Key(data))
		files[file] = string(data)
		inputs = append(inputs, input{test, c, in, file})
	}
	for i, k := range kinds[:len(kinds)-1] {
		for _, part := range extremes(k) {
			add(fmt.Sprintf("Fuzz%d", i), kinds[i:i+1], part)
		}
	}
	m, r := fuzztest.NewMutator(kinds, &mutate.Bytes{}), rand.New(rand.NewPCG(3, 4))
	for range 20 {
		add("FuzzAll", kinds, m.Generate(r))
	}
	add("FuzzAll", kinds, []byte{}) // what is missing is zero
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", ".")
	cmd.Dir = dir
	plain, _ := cmd.CombinedOutput() // every input fails
	binary := build(t, dir, overlay.Flags{})
	executors := map[string]teasel.Executor[[]byte]{}
	for _, x := range inputs {
		var want []string
		for i, part := range agent.Split(x.c.Kinds, x.in, nil) {
			want = append(want, printed(x.c.Kinds[i].Value(part)))
		}
		text := "got " + want[0] + " ."
		if len(want) > 1 {
			text = fmt.Sprint("got ", crc32.ChecksumIEEE([]byte(strings.Join(want, ""))), " .")
		}
		again, err := x.c.Decode([]byte(files[x.file]))
		if err != nil {
			t.Errorf("%s of %s is not read: %v", x.file, text, err)
			continue
		}
		for i, part := range agent.Split(x.c.Kinds, again, nil) {
			if got := printed(x.c.Kinds[i].Value(part)); got != want[i] {
				t.Errorf("%s\nis read as %s, want %s", files[x.file], got, want[i])
			}
		}
		if !strings.Contains(strings.ReplaceAll(string(plain), "\n        ", "\n"), text) {
			t.Errorf("plain go test did not run %s, which is in the file\n%s", text, files[x.file])
		}
		ex := executors[x.test]
		if ex == nil {
			ex = open(t, &fuzztest.Target{Binary: binary, Dir: dir, Name: x.test})
			executors[x.test] = ex
		}
		for _, which := range [...][]byte{x.in, again} { // the first input of a process, and a later one
			f := judged(t, ex, which)
			if f == nil || !strings.Contains(f.Message+f.Detail, text) {
				t.Errorf("a process of ours ran %+v, want %s", f, text)
			}
		}
	}
}
