package dialogue

import "github.com/teaselfuzz/teasel"

// Clients returns how many clients a dialogue has: the highest number of one, and one more.
func (d *Dialogue) Clients() int {
	n := 0
	for i := range d.Messages {
		n = max(n, int(d.Messages[i].Client)+1)
	}
	return n
}

// used reports whether a client has sent one of the first n messages.
func (d *Dialogue) used(client uint8, n int) bool {
	for i := range n {
		if d.Messages[i].Client == client {
			return true
		}
	}
	return false
}

// renumber changes the numbers of clients.
func (d *Dialogue) renumber(to func(uint8) uint8) {
	for i := range d.Messages {
		d.Messages[i].Client = to(d.Messages[i].Client)
	}
}

// compact numbers clients in the order in which they come.
func (d *Dialogue) compact() {
	var numbers [MaxClients]uint8
	next := uint8(0)
	for i := range d.Messages {
		c := &d.Messages[i].Client
		if *c >= MaxClients {
			*c = MaxClients - 1
		}
		if numbers[*c] == 0 {
			next++
			numbers[*c] = next
		}
		*c = numbers[*c] - 1
	}
}

// reassign has another client send a message: half of the time alone, or else with those of its client behind it.
func reassign(r *teasel.Rand, d *Dialogue) bool {
	n := len(d.Messages)
	if n < 2 {
		return false
	}
	at := r.IntN(n)
	from, to := d.Messages[at].Client, uint8(r.IntN(min(d.Clients()+1, MaxClients)))
	end := at + 1
	if r.IntN(2) == 0 {
		end = n
	}
	for i := at; i < end; i++ {
		if d.Messages[i].Client == from {
			d.Messages[i].Client = to
		}
	}
	return from != to
}

// beside puts the messages of b, which has clients of its own, between those of dst. Where they go is drawn: one by one, or all of them
// at one place, such as between a subscription and what ends it. What there is no room for is left out.
func (m *Mutator) beside(r *teasel.Rand, dst, b *Dialogue) {
	first := min(dst.Clients(), MaxClients-1)
	together, at := r.IntN(2) == 0, r.IntN(len(dst.Messages)+1)
	for i := range b.Messages {
		if len(dst.Messages) >= m.maxMessages() {
			return
		}
		if !together {
			at += r.IntN(len(dst.Messages) + 1 - at)
			if i == 0 {
				at = r.IntN(len(dst.Messages) + 1)
			}
		}
		m.insert(dst, at, &b.Messages[i])
		msg := &dst.Messages[at]
		msg.Client = uint8(min(first+int(msg.Client), MaxClients-1))
		at++
	}
}

// besideAt returns a dialogue in which b is held by clients of its own when a has sent so many of its messages.
func (m *Mutator) besideAt(a, b *Dialogue, sent int) *Dialogue {
	d := &Dialogue{}
	d.CopyFrom(a)
	first := min(a.Clients(), MaxClients-1)
	for i := range b.Messages {
		m.insert(d, sent+i, &b.Messages[i])
		msg := &d.Messages[sent+i]
		msg.Client = uint8(min(first+int(msg.Client), MaxClients-1))
	}
	return d
}
