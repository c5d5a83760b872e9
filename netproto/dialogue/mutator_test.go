package dialogue

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel/netproto/model"
)

// exampleModels loads the models of the examples.
func exampleModels(t testing.TB) []*model.Model {
	t.Helper()
	files, err := filepath.Glob("../../examples/net/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example models: %v", err)
	}
	var all []*model.Model
	for _, file := range files {
		m, err := model.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// iterations is how often something drawn is tried: less in short tests.
func iterations(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// sound checks that the fields of every message lie within one another and within its bytes.
func sound(t *testing.T, m *model.Model, d *Dialogue, what string) {
	t.Helper()
	for i := range d.Messages {
		msg := &d.Messages[i]
		if len(msg.Nodes) == 0 {
			continue
		}
		if int(msg.Nodes[0].End) != 8*len(msg.Data) || int(msg.Nodes[0].Size) != len(msg.Nodes) {
			t.Fatalf("%s: %s: the message has %d bytes and %d fields, its outermost field %d bits and %d fields", what, msg.Name, len(msg.Data),
				len(msg.Nodes), msg.Nodes[0].End, msg.Nodes[0].Size)
		}
		var again model.Tree
		layout := string(msg.AppendLayout(nil))
		if err := m.Message(msg.Name).SetLayout(&again, msg.Data, layout); err != nil {
			t.Fatalf("%s: %s: %v\n%s", what, msg.Name, err, layout)
		}
		if !slices.Equal(again.Nodes, msg.Nodes) {
			t.Fatalf("%s: %s: fields are lost\n%s\n%s", what, msg.Name, layout, again.AppendLayout(nil))
		}
	}
}

// No structure-aware mutant sends what its source sends, and at least nine of ten are distinct.
func TestMutantsDifferAndAreDistinct(t *testing.T) {
	const mutants = 10_000
	for _, m := range exampleModels(t) {
		mut := &Mutator{Model: m, Mode: Structure, OrderShare: -1}
		seeds := Seeds(m)
		seen := map[string]bool{}
		var d *Dialogue
		for i := range mutants {
			src := seeds[i%len(seeds)]
			d = mut.Mutate(random(uint64(i)), d, src)
			if equal(d, src) {
				t.Fatalf("%s: mutant %d sends what its source sends", m.ID, i)
			}
			key := ""
			for j := range d.Messages {
				key += string(d.Messages[j].Data) + "\x00|"
			}
			seen[key] = true
			if i%16 == 0 {
				sound(t, m, d, m.ID)
			}
		}
		if len(seen) < mutants*9/10 {
			t.Errorf("%s: of %d mutants %d are distinct", m.ID, mutants, len(seen))
		}
		t.Logf("%s: of %d mutants %d are distinct", m.ID, mutants, len(seen))
	}
}

// Mutants of mutants stay sound, and sources are never written to.
func TestMutantsOfMutantsAreSound(t *testing.T) {
	for _, m := range exampleModels(t) {
		for _, mode := range []Mode{ByteLevel, Structure, Hybrid} {
			mut := &Mutator{Model: m, Mode: mode, MaxMessages: 6, MaxBytes: 1024}
			pool := Seeds(m)
			codec := Codec{Model: m}
			r := random(7)
			for i := range iterations(400) {
				at := r.IntN(len(pool))
				before, err := codec.Encode(pool[at])
				if err != nil {
					t.Fatal(err)
				}
				var d *Dialogue
				if i%4 == 0 {
					d = mut.Cross(r, nil, pool[at], pool[r.IntN(len(pool))])
				} else {
					d = mut.Mutate(r, nil, pool[at])
				}
				sound(t, m, d, m.ID)
				if after, _ := codec.Encode(pool[at]); string(after) != string(before) {
					t.Fatalf("%s: the source was written to", m.ID)
				}
				if len(pool) < 40 {
					pool = append(pool, d)
				} else {
					pool[at] = d
				}
			}
		}
	}
}

func TestEveryOperatorFits(t *testing.T) {
	for _, op := range Operators() {
		fits := false
		for _, m := range exampleModels(t) {
			mut := &Mutator{Model: m}
			r := random(1)
			for _, seed := range Seeds(m) {
				d := &Dialogue{}
				d.CopyFrom(seed)
				if op == OpMend {
					mut.Apply(r, OpLie, d)
				}
				for range 20 {
					if mut.Apply(r, op, d) {
						fits = true
						sound(t, m, d, m.ID+" "+op.String())
					}
				}
			}
		}
		if !fits {
			t.Errorf("%s never changed anything", op)
		}
	}
}

func TestMutationIsAFunctionOfItsArguments(t *testing.T) {
	for _, m := range exampleModels(t) {
		a, b := &Mutator{Model: m}, &Mutator{Model: m}
		seeds := Seeds(m)
		for i := range 200 {
			b.Mutate(random(1000), nil, seeds[0]) // what was done before must not matter
			x, y := a.Mutate(random(uint64(i)), nil, seeds[i%len(seeds)]), b.Mutate(random(uint64(i)), nil, seeds[i%len(seeds)])
			if !equal(x, y) {
				t.Fatalf("%s: mutant %d differs", m.ID, i)
			}
		}
	}
}

func TestStepsDifferAndEnd(t *testing.T) {
	for _, m := range exampleModels(t) {
		mut := &Mutator{Model: m}
		for _, seed := range Seeds(m) {
			var d *Dialogue
			steps, same, stride := 0, 0, 1
			if testing.Short() {
				stride = 7
			}
			for more := true; more; steps += stride {
				if d, more = mut.Step(uint64(steps), d, seed); more {
					if equal(d, seed) {
						same++
						t.Errorf("%s: step %d sends what its source sends", m.ID, steps)
					}
					if steps%8 == 0 {
						sound(t, m, d, m.ID)
					}
				}
				if steps > 200_000 || same > 3 {
					t.Fatalf("%s: the steps do not end", m.ID)
				}
			}
			if steps < 50 {
				t.Errorf("%s: only %d steps", m.ID, steps)
			}
		}
	}
}

func TestSimplifyGoesDown(t *testing.T) {
	for _, m := range exampleModels(t) {
		mut := &Mutator{Model: m}
		r := random(3)
		for _, seed := range Seeds(m) {
			in := mut.Mutate(r, nil, seed)
			for changed := true; changed; {
				changed = false
				limit := mut.Complexity(in)
				for k := uint64(0); ; k++ {
					out, more := mut.Simplify(k, nil, in)
					if !more {
						break
					}
					sound(t, m, out, m.ID)
					if len(out.Messages) > 0 && mut.Complexity(out) < limit {
						in, changed = out, true
						break
					}
				}
			}
			if len(in.Messages) != 1 || len(in.Messages[0].Data) > 256 {
				t.Errorf("%s: the simplest of a seed has %d messages and %d bytes", m.ID, len(in.Messages), in.Bytes())
			}
		}
	}
}

func TestCodecKeepsMutants(t *testing.T) {
	for _, m := range exampleModels(t) {
		mut, codec := &Mutator{Model: m}, Codec{Model: m}
		seeds := Seeds(m)
		for i := range iterations(500) {
			d := mut.Mutate(random(uint64(i)), nil, seeds[i%len(seeds)])
			data, err := codec.Encode(d)
			if err != nil {
				t.Fatal(err)
			}
			back, err := codec.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if !equal(back, d) {
				t.Fatalf("%s: another dialogue came back", m.ID)
			}
			if again, _ := codec.Encode(back); string(again) != string(data) {
				t.Fatalf("%s: encoded again it differs:\n%s\n%s", m.ID, data, again)
			}
		}
	}
}

func BenchmarkMutate(b *testing.B) {
	for _, m := range exampleModels(b) {
		b.Run(m.ID, func(b *testing.B) {
			mut := &Mutator{Model: m}
			seeds, r := Seeds(m), random(1)
			var d *Dialogue
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				d = mut.Mutate(r, d, seeds[i%len(seeds)])
			}
		})
	}
}
