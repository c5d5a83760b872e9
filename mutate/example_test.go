package mutate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

func Example() {
	src, err := mutate.ParseJSON([]byte(`{"method":"add","params":{"a":1.50,"b":"two"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	tree := &mutate.JSONTree{
		Protect: func(pointer string) bool { return pointer == "/method" },
	}
	r := rand.New(rand.NewPCG(1, 2))
	v := src.Clone()
	tree.Apply(r, mutate.JSONNumberNegate, v, nil)
	fmt.Println(v)
	tree.Apply(r, mutate.JSONMemberShuffle, v.Get("params"), nil)
	fmt.Println(v)

	simpler, _ := tree.Simplify(0, nil, v)
	fmt.Println(simpler, tree.Complexity(simpler) < tree.Complexity(v))
	// Output:
	// {"method":"add","params":{"a":-1.50,"b":"two"}}
	// {"method":"add","params":{"b":"two","a":-1.50}}
	// {"method":"add"} true
}

func ExampleBytes() {
	var words mutate.Dictionary
	if err := words.Load(strings.NewReader("magic=\"\\xCA\\xFE\"\nverb@1=\"POST\"\n"), "my.dict", 0); err != nil {
		fmt.Println(err)
	}
	m := &mutate.Bytes{Dictionary: &words}
	r := rand.New(rand.NewPCG(1, 2))
	in, ok := m.Apply(r, mutate.OpTokenInsert, nil, []byte("0000"), nil)
	fmt.Printf("%q %v\n", in, ok)
	for k := uint64(0); ; k++ {
		step, more := m.Step(k, nil, []byte("0000"))
		if !more || string(step) == "0\xca\xfe0" {
			fmt.Printf("%q is tried: %v\n", step, more)
			break
		}
	}
	// Output:
	// "000\xca\xfe0" true
	// "0\xca\xfe0" is tried: true
}

func ExampleJSON() {
	v, _ := mutate.ParseJSON([]byte(`{ "id" : 1.0, "id" : "\u0031" }`))
	fmt.Println(v)
	n, _ := v.Get("id").Int()
	fmt.Println(n, v.Members[1].Value.Text)
	// Output:
	// {"id":1.0,"id":"\u0031"}
	// 1 1
}
