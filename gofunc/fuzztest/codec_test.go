package fuzztest_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
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

// Go's own reader takes every type that is written.
func TestCodecIsGos(t *testing.T) {
	kinds := agent.ParseKinds(allTypes)
	dir := t.TempDir()
	test := "package m\n\nimport \"testing\"\n\nfunc FuzzAll(f *testing.F) {\n\tf.Fuzz(func(t *testing.T"
	for i, k := range kinds {
		test += fmt.Sprintf(", a%d %v", i, k)
	}
	test += ") {})\n}\n"
	c, m, r := fuzztest.Codec{Kinds: kinds}, fuzztest.NewMutator(kinds, &mutate.Bytes{}), rand.New(rand.NewPCG(3, 4))
	files := map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m_test.go": test}
	for range 50 {
		data, err := c.Encode(m.Generate(r))
		if err != nil {
			t.Fatal(err)
		}
		files["testdata/fuzz/FuzzAll/"+teasel.Key(data)] = string(data)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-v", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if n := strings.Count(string(out), "--- PASS: FuzzAll/"); err != nil || n != len(files)-2 {
		t.Errorf("%d of %d passed: %v\n%s", n, len(files)-2, err, out)
	}
}
