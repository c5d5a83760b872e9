package dialogue

import "testing"

// Whatever stands in a dialogue's file, what is read of it can be changed, sent and written.
func FuzzDecode(f *testing.F) {
	all := append(exampleModels(f), fixedHeader(f))
	for i, m := range all {
		for _, seed := range Seeds(m) {
			for j := range seed.Messages {
				msg := &seed.Messages[j]
				file := Codec{Model: m}.file(msg, &msg.Tree)
				f.Add(byte(i), msg.Data, msg.Name, string(msg.AppendLayout(nil)), file.NoWait)
			}
		}
	}
	f.Fuzz(func(t *testing.T, model byte, data []byte, name, layout string, noWait bool) {
		if len(data) > 1<<12 || len(layout) > 1<<12 {
			return
		}
		m := all[int(model)%len(all)]
		codec := Codec{Model: m}
		text := string(data)
		d := &Dialogue{Messages: make([]Message, 1)}
		if err := codec.message(&d.Messages[0], &messageFile{Message: name, Text: &text, Layout: layout, NoWait: noWait}); err != nil {
			t.Fatal(err)
		}
		s := NewSession(m)
		mut := &Mutator{Model: m, MaxBytes: 1 << 12}
		var out *Dialogue
		for seed := range uint64(8) {
			out = mut.Mutate(random(seed), out, d)
			s.Begin(out)
			for i := range out.Messages {
				s.Render(i)
			}
			sound(t, m, out, m.ID)
		}
		if _, err := codec.Encode(out); err != nil {
			t.Fatal(err)
		}
	})
}
