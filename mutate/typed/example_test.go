package typed_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/teaselfuzz/teasel/mutate/typed"
)

type account struct {
	Owner   string `fuzz:"oneof=alice|bob"`
	Balance int    `fuzz:"min=0,max=1000"`
	History []int  `fuzz:"len=..3" fuzz-each:"min=-9,max=9"`
}

func ExampleEditor() {
	plan, err := typed.Of[account]().Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	e := typed.NewEditor(plan)
	v, _ := e.First(0) // the simplest value
	show := func() {
		data, _ := e.Encode(v)
		fmt.Println(string(data))
	}
	show()
	r := rand.New(rand.NewPCG(1, 2))
	e.Change(r, &v)
	e.Change(r, &v)
	e.Undo(&v)
	e.Undo(&v)
	show() // the value before the change
	// Output:
	// {"Owner":"alice","Balance":0,"History":null}
	// {"Owner":"alice","Balance":0,"History":null}
}

func ExampleOf() {
	type shape interface{}
	type circle struct{ Radius uint }
	type square struct{ Side uint }
	type drawing struct{ Shapes []shape }

	plan, err := typed.Of[drawing](
		typed.Choices[shape](circle{}, square{}),
		typed.Field[circle]("Radius", typed.Range[uint](1, 9)),
	).Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = plan.Decode([]byte(`{"Shapes":[{"circle":{"Radius":10}}]}`))
	fmt.Println(err)
	// Output: checking a typed_test.drawing: Shapes: element 0: Radius: 10 is not between 1 and 9
}

func ExampleNewGrammar() {
	g, err := typed.NewGrammar(`
		Sum    = Number { ( "+" | "-" ) Number } .
		Number = "1" … "9" { "0" … "9" } .
	`)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := typed.Text[string](g).Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = plan.Decode([]byte(`"10+2-3"`))
	fmt.Println(err)
	_, err = plan.Decode([]byte(`"10+"`))
	fmt.Println(err)
	// Output:
	// <nil>
	// checking a string: "10+" does not match the grammar
}
