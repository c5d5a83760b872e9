package dialogue

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/netproto/model"
)

// twoClients is a dialogue of two clients that take turns.
func twoClients() *Dialogue {
	d := Raw([]byte("watch"), []byte("tell"), []byte("bye"))
	d.Messages[1].Client = 1
	return d
}

// The number of a client survives being written, packed and copied; a dialogue of one client is written as older programs read it.
func TestClientsAreKept(t *testing.T) {
	c := Codec{}
	text, err := c.Encode(twoClients())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"client":2`) || !strings.Contains(string(text), `"teasel-dialogue":2`) {
		t.Errorf("written as %s", text)
	}
	read, err := c.Decode(text)
	if err != nil || !equal(read, twoClients()) {
		t.Errorf("read as %+v, %v", read, err)
	}
	if again := c.Unpack(AppendPacked(nil, twoClients())); !equal(again, twoClients()) {
		t.Errorf("unpacked as %+v", again)
	}
	if text, _ = c.Encode(Raw([]byte("x"))); !strings.Contains(string(text), `"teasel-dialogue":1`) {
		t.Errorf("a dialogue of one client is written as %s", text)
	}
	if _, err := c.Decode([]byte(`{"teasel-dialogue":2,"messages":[{"text":"x","client":5}]}`)); err == nil {
		t.Error("a fifth client is read")
	}
}

// A seed of a model may have several clients, counted from 1.
func TestClientsOfSeeds(t *testing.T) {
	const text = "teasel-model: 1\nmessages: {m: {seq: [{id: text, type: str, size-eos: true}]}}\nseeds:\n" +
		"  one: [{message: m, fields: {text: watch}}, {message: m, fields: {text: tell}, client: 2}, {text: bye, client: 1}]\n"
	m, err := model.Parse([]byte(text), "m.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := Seeds(m)[0]; !equal(got, twoClients()) {
		t.Errorf("read as %+v", got)
	}
	for _, number := range []string{"0", "5", "two"} {
		if _, err := model.Parse([]byte(strings.Replace(text, "client: 2", "client: "+number, 1)), "m.yaml"); err == nil || !strings.Contains(err.Error(), "client is a number from 1 to 4") {
			t.Errorf("client %s: %v", number, err)
		}
	}
}

// Minimising has one client send what another one sent, and numbers those that are left from 0 on.
func TestSimplifyClients(t *testing.T) {
	m := &Mutator{}
	src := twoClients()
	src.Messages[1].Client = 2
	one, compact := false, false
	for k := uint64(0); ; k++ {
		d, more := m.Simplify(k, nil, src)
		if !more {
			break
		}
		one = one || d.Clients() == 1 && len(d.Messages) == 3
		compact = compact || d.Clients() == 2 && len(d.Messages) == 3
	}
	if !one || !compact {
		t.Errorf("one client: %v, clients numbered anew: %v", one, compact)
	}
}

// Crossing plays two dialogues side by side, each in its order and with a client of its own.
func TestKeepConnections(t *testing.T) {
	m := &Mutator{}
	src := Raw([]byte("a"), []byte("b"), []byte("c"), []byte("d"))
	src.Messages[1].Reconnect, src.Messages[3].Client = true, 1
	want := Raw([]byte("a"), []byte("c"), []byte("d"))
	want.Messages[1].Reconnect, want.Messages[2].Client = true, 1
	if got := m.Keep(src, []int{0, 2, 3}); !equal(got, want) {
		t.Errorf("%+v", got)
	}
	want = Raw([]byte("c"), []byte("d"))
	want.Messages[1].Client = 1
	if got := m.Keep(src, []int{2, 3}); !equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestCrossBeside(t *testing.T) {
	m := &Mutator{}
	a, b := Raw([]byte("a1"), []byte("a2")), Raw([]byte("b1"), []byte("b2"))
	between := false
	for n := range uint64(200) {
		d := m.Cross(random(n), nil, a, b)
		if d.Clients() < 2 {
			continue
		}
		var order [2]string
		for i := range d.Messages {
			order[d.Messages[i].Client] += string(d.Messages[i].Data)
		}
		if order != [2]string{"a1a2", "b1b2"} {
			t.Fatalf("client 1 sends %s, client 2 %s", order[0], order[1])
		}
		between = between || d.Messages[0].Client == 0 && d.Messages[len(d.Messages)-1].Client == 0
	}
	if !between {
		t.Error("no dialogue has the second one within the first")
	}
}
