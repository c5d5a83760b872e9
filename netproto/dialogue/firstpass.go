package dialogue

import (
	"bytes"
	"slices"
	"sort"
	"strconv"

	"github.com/teaselfuzz/teasel/netproto/model"
)

// A firstPass is the list of what is tried of a model before anything is left to chance. Its dialogues are made when they are due.
type firstPass struct {
	messages []Message   // each kind, and each that only the other side sends
	prefixes [][]Message // what leads to each state, shortest first, and each seed up to each of its messages
	cases    []func() *Dialogue
}

// Bounds of the first pass, so that it takes a minute of a server that is slow, too.
const (
	mostPrefixes = 16
	mostPairs    = 12 // seeds that are held side by side with one another
	mostLimit    = 1<<16 - 1
	mostTokens   = 6
)

// FirstPass returns the k-th dialogue of the first pass over the model, and false after the last one. Dialogues of three kinds take turns:
//   - Order: each message is sent in each state and after each part of a seed, also those that only the other side may send.
//   - Fields: each field of each message is empty, as long as it can be (one byte repeated, which may be a separator), or a number at its
//     limits. Each derived field has a wrong value.
//   - Pairs: any two seeds are held side by side by two clients.
//
// Without a model the messages are those of the seeds, and no field is known. Settings that leave fields or the order of messages alone hold
// here too.
func (m *Mutator) FirstPass(k uint64) (*Dialogue, bool) {
	m.prepare()
	if m.first == nil {
		m.first = m.newFirstPass()
	}
	if k >= uint64(len(m.first.cases)) {
		return nil, false
	}
	return m.first.cases[k](), true
}

// FirstPassSize returns how many dialogues the first pass has.
func (m *Mutator) FirstPassSize() uint64 {
	m.FirstPass(0)
	return uint64(len(m.first.cases))
}

func (m *Mutator) newFirstPass() *firstPass {
	p := &firstPass{}
	var order, fields, pairs []func() *Dialogue
	p.collect(m)
	if m.OrderShare >= 0 {
		order, pairs = p.orders(m), p.pairs(m)
	}
	if m.Model != nil && m.Mode != ByteLevel {
		fields = p.fields(m)
	}
	for i := range max(len(order), len(fields), len(pairs)) {
		for _, some := range [...][]func() *Dialogue{order, fields, pairs} {
			if i < len(some) {
				p.cases = append(p.cases, some[i])
			}
		}
	}
	return p
}

// collect finds what there is to send, and where.
func (p *firstPass) collect(m *Mutator) {
	for _, s := range m.samples {
		p.messages = append(p.messages, s.Messages[0])
	}
	p.add(nil)
	seeds := m.Seeds
	if m.Model != nil {
		p.collectOthers(m)
		for _, path := range m.statePaths() {
			p.add(path)
		}
		seeds = Seeds(m.Model)
	}
	seeds = slices.Clone(seeds)
	sort.SliceStable(seeds, func(i, j int) bool { return len(seeds[i].Messages) < len(seeds[j].Messages) })
	for n := 1; n <= 8; n++ {
		for _, d := range seeds {
			if n <= len(d.Messages) && d.Clients() == 1 {
				p.add(d.Messages[:n])
			}
		}
	}
}

// collectOthers finds what only the other side sends.
func (p *firstPass) collectOthers(m *Mutator) {
	for _, kind := range m.Model.Responses {
		var msg Message
		if kind.Build(&msg.Tree) != nil {
			continue
		}
		msg.Tree.Satisfy(0, kind.When, true)
		msg.Tree.Derive(nil)
		if found, n := m.Model.Find(&msg.Tree, bytes.Clone(msg.Data)); found != nil && n == len(msg.Data) {
			msg.Name = found.Name
		}
		same := func(x Message) bool { return bytes.Equal(x.Data, msg.Data) }
		if len(msg.Data) > 0 && !slices.ContainsFunc(p.messages, same) {
			p.messages = append(p.messages, msg)
		}
	}
}

// add adds a prefix unless there is one of the same kinds of message.
func (p *firstPass) add(prefix []Message) {
	same := func(other []Message) bool {
		return slices.EqualFunc(prefix, other, func(a, b Message) bool { return a.Name == b.Name && (a.Name != "" || bytes.Equal(a.Data, b.Data)) })
	}
	if len(p.prefixes) < mostPrefixes && !slices.ContainsFunc(p.prefixes, same) {
		p.prefixes = append(p.prefixes, prefix)
	}
}

// statePaths returns for each state that the model declares the shortest way there, in the order of their lengths.
func (m *Mutator) statePaths() (paths [][]Message) {
	if len(m.Model.States) == 0 {
		return nil
	}
	known := map[string]bool{m.Model.States[0].Name: true}
	type place struct {
		state *model.State
		path  []Message
	}
	for queue := []place{{state: m.Model.States[0]}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for i := range at.state.Transitions {
			t := &at.state.Transitions[i]
			msg, to := m.sample(t.Send), m.Model.State(t.To)
			if msg == nil || to == nil || known[t.To] {
				continue
			}
			known[t.To] = true
			path := append(slices.Clone(at.path), *msg)
			paths = append(paths, path)
			queue = append(queue, place{to, path})
		}
	}
	return paths
}

// of returns a dialogue of copies of messages.
func of(parts ...[]Message) *Dialogue {
	d := &Dialogue{}
	for _, part := range parts {
		for i := range part {
			d.resize(len(d.Messages) + 1)
			d.Messages[len(d.Messages)-1].copyFrom(&part[i])
		}
	}
	return d
}

// orders are the dialogues that send each message behind each prefix, and those that end there.
func (p *firstPass) orders(m *Mutator) (all []func() *Dialogue) {
	for _, prefix := range p.prefixes {
		all = append(all, func() *Dialogue { return of(prefix) })
		for i := range p.messages {
			one := p.messages[i : i+1]
			all = append(all, func() *Dialogue { return of(prefix, one) })
		}
	}
	for _, prefix := range p.prefixes { // a message may change what the next one meets
		if len(prefix) == 0 {
			continue
		}
		again := prefix[len(prefix)-1:]
		for i := range p.messages {
			one := p.messages[i : i+1]
			all = append(all, func() *Dialogue { return of(prefix, one, again) })
		}
	}
	return all
}

// pairs are any two seeds side by side, the second one when the first has sent all, and all but its last message.
func (p *firstPass) pairs(m *Mutator) (all []func() *Dialogue) {
	seeds := append(Seeds(m.Model), m.Seeds...)
	seeds = seeds[:min(len(seeds), mostPairs)]
	for _, back := range [...]int{0, 1} {
		for _, a := range seeds {
			for _, b := range seeds {
				if len(a.Messages) > back && len(a.Messages)+len(b.Messages) <= m.maxMessages() {
					all = append(all, func() *Dialogue { return m.besideAt(a, b, len(a.Messages)-back) })
				}
			}
		}
	}
	return all
}

// fields are the dialogues in which one field is at a limit, all fields with their first value before any has its second.
func (p *firstPass) fields(m *Mutator) (all []func() *Dialogue) {
	var of [][]func() *Dialogue
	seen := map[*model.Field]map[string]bool{}
	add := func(d *Dialogue, i int) {
		t := &d.Messages[i].Tree
		for _, node := range slices.Clone(m.places(t, func(n int) bool { return t.Leaf(n) })) {
			f := t.Nodes[node].Field
			if where := d.Messages[i].Name + " " + t.Path(node); !seen[f][where] {
				if seen[f] == nil {
					seen[f] = map[string]bool{}
				}
				seen[f][where] = true
				of = append(of, m.extremes(d, i, node))
			}
		}
	}
	for _, d := range Seeds(m.Model) {
		for i := range d.Messages {
			add(d, i)
		}
	}
	for _, msg := range p.messages { // of those that no seed has, behind what leads to where they belong
		if msg.Name != "" {
			prefix := p.leading(m, msg.Name)
			d := &Dialogue{Messages: append(slices.Clone(prefix), msg)}
			add(d, len(prefix))
		}
	}
	for n := 0; ; n++ {
		more := false
		for _, some := range of {
			if n < len(some) {
				all, more = append(all, some[n]), true
			}
		}
		if !more {
			return all
		}
	}
}

// leading returns the shortest way to a state in which a message may be sent.
func (p *firstPass) leading(m *Mutator, name string) []Message {
	if len(m.Model.States) == 0 || m.Model.States[0].Transition(name) != nil {
		return nil
	}
	for _, path := range m.statePaths() {
		state := m.Model.States[0]
		for i := range path {
			if t := state.Transition(path[i].Name); t != nil && t.To != "" {
				state = m.Model.State(t.To)
			}
		}
		if state.Transition(name) != nil {
			return path
		}
	}
	return nil
}

// numeric reports whether a text is a decimal number, which a server is likely to read as one although the model has it as text: an argument that
// many commands share.
func numeric(text []byte) bool {
	_, err := strconv.Atoi(string(text))
	return err == nil
}

// longNumbers are where the types end into which programs read numbers in text, and the text of a number that has no end.
var longNumbers = [...]string{"2147483647", "-2147483648", "4294967296", "18446744073709551616", "99999999999999999999999999999999"}

// extremes are the dialogues with other values of one field.
func (m *Mutator) extremes(d *Dialogue, i, node int) (all []func() *Dialogue) {
	with := func(change func(t *model.Tree)) {
		all = append(all, func() *Dialogue {
			out := of(d.Messages)
			t := &out.Messages[i].Tree
			change(t)
			t.Derive(nil)
			return out
		})
	}
	t := &d.Messages[i].Tree
	switch f := t.Nodes[node].Field; {
	case f.Kind.Number():
		old, _ := t.Number(node)
		top := limitOf(t, node)
		values := []int64{int64(top), 0, int64(top/2 + 1), int64(top / 2)}
		if t.Derived(node) {
			values = append(values, old+1, old-1)
		}
		for k, v := range values {
			if v != old && !slices.Contains(values[:k], v) {
				with(func(t *model.Tree) {
					if t.Derived(node) {
						t.Nodes[node].Flags |= model.Broken
					}
					t.SetNumber(node, v)
				})
			}
		}
		if f.Kind == model.Digits { // the limits above are those of as many digits as there are
			for _, digits := range longNumbers {
				with(func(t *model.Tree) {
					if t.Derived(node) {
						t.Nodes[node].Flags |= model.Broken
					}
					m.put(t, node, []byte(digits))
				})
			}
		}
	case isBytes(t, node):
		if len(t.Bytes(node)) > 0 {
			with(func(t *model.Tree) { m.put(t, node, nil) })
		}
		if numeric(t.Bytes(node)) {
			for _, digits := range longNumbers {
				with(func(t *model.Tree) { m.put(t, node, []byte(digits)) })
			}
		}
		limit := m.limit(&d.Messages[i], node)
		for _, token := range tokensOf(t.Bytes(node)) {
			with(func(t *model.Tree) { m.put(t, node, bytes.Repeat([]byte{token}, limit)) })
		}
		for _, n := range [...]int{257, 1025, 4097} { // buffers often end before the field does
			if n < limit {
				with(func(t *model.Tree) { m.put(t, node, bytes.Repeat([]byte{'A'}, n)) })
			}
		}
	}
	return all
}

// limit returns how long a field can be so that the message can be read again as it was written.
func (m *Mutator) limit(msg *Message, node int) int {
	kind := m.Model.Message(msg.Name)
	if kind == nil {
		return mostLimit
	}
	var t, again model.Tree
	fits := func(n int) bool {
		t.CopyFrom(&msg.Tree)
		if !m.put(&t, node, bytes.Repeat([]byte{'A'}, n)) {
			return false
		}
		t.Derive(nil)
		return kind.Parse(&again, t.Data) == nil && len(again.Nodes) == len(t.Nodes) && len(again.Bytes(node)) == n
	}
	n := sort.Search(min(mostLimit, m.maxBytes()), func(n int) bool { return !fits(n + 1) })
	if n == 0 { // it is not what it was once it has other bytes
		return min(mostLimit, m.maxBytes())
	}
	return n
}

// tokensOf returns bytes to fill a field with: what separates the parts of its value, and some that programs count or stop at.
func tokensOf(value []byte) (tokens []byte) {
	for _, set := range [...][]byte{value, []byte("A/. \x00\xff")} {
		for _, c := range set {
			letter := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
			if (!letter || c == 'A') && bytes.IndexByte(tokens, c) < 0 && len(tokens) < mostTokens {
				tokens = append(tokens, c)
			}
		}
	}
	return tokens
}
