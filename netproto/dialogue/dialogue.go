package dialogue

import "github.com/teaselfuzz/teasel/netproto/model"

// A Dialogue is what one execution sends: messages in order. It is the input that the engine knows. The zero value is
// empty. Whoever changes a dialogue owns it.
type Dialogue struct {
	Messages []Message
}

// A Message is one message of a dialogue: bytes, and the fields in them as far as they are known. Derived fields have the
// values that they had when the message was made; those that depend on what the server answers are filled in when it is
// sent, by [Session.Render].
type Message struct {
	Name string // of the model's message; "": bytes without a model
	model.Tree
	Reconnect bool // the connection is closed and made anew before it is sent
	NoWait    bool // the next message is sent without waiting for the answer
	// Client says which of several clients of the server sends it, each over a connection of its own, which is made when its first
	// message is due and lasts to the end of the dialogue. 0: the first client.
	Client uint8
}

// MaxClients is how many clients a dialogue has at most.
const MaxClients = model.MaxClients

// Raw returns a dialogue of messages without a model. It copies them.
func Raw(messages ...[]byte) *Dialogue {
	d := &Dialogue{Messages: make([]Message, len(messages))}
	for i, m := range messages {
		d.Messages[i].SetRaw(m)
	}
	return d
}

// Seeds returns the dialogues that a model brings.
func Seeds(m *model.Model) []*Dialogue {
	if m == nil {
		return nil
	}
	var all []*Dialogue
	for i := range m.Seeds {
		d := &Dialogue{}
		for j := range m.Seeds[i].Messages {
			d.add(&m.Seeds[i].Messages[j])
		}
		all = append(all, d)
	}
	return all
}

func (d *Dialogue) add(s *model.SeedMessage) {
	m := Message{}
	m.CopyFrom(&s.Tree)
	if s.Message != nil {
		m.Name = s.Message.Name
	}
	m.Client = uint8(s.Client)
	d.Messages = append(d.Messages, m)
}

// Bytes returns how many bytes all messages have together.
func (d *Dialogue) Bytes() (n int) {
	for i := range d.Messages {
		n += len(d.Messages[i].Data)
	}
	return n
}

// CopyFrom makes d a copy of src in the memory of d.
func (d *Dialogue) CopyFrom(src *Dialogue) {
	d.resize(len(src.Messages))
	for i := range src.Messages {
		d.Messages[i].copyFrom(&src.Messages[i])
	}
}

// resize makes room for n messages; the memory of those beyond is kept for later.
func (d *Dialogue) resize(n int) {
	if n > cap(d.Messages) {
		d.Messages = append(d.Messages[:cap(d.Messages)], make([]Message, n-cap(d.Messages))...)
	}
	d.Messages = d.Messages[:n]
}

func (m *Message) copyFrom(src *Message) {
	m.Tree.CopyFrom(&src.Tree)
	m.Name, m.Reconnect, m.NoWait, m.Client = src.Name, src.Reconnect, src.NoWait, src.Client
}

// Split makes a dialogue of the bytes that a client sent over a stream: each message is the first of the model's that fits.
// What fits none is one message without a model, up to the end. The model may be nil.
func Split(m *model.Model, stream []byte) *Dialogue {
	d := &Dialogue{}
	for len(stream) > 0 {
		var msg Message
		n := 0
		if m != nil {
			if found, size := m.Find(&msg.Tree, stream); found != nil {
				msg.Name, n = found.Name, size
			}
		}
		if n == 0 {
			n = len(stream)
			msg.SetRaw(stream)
		}
		d.Messages = append(d.Messages, msg)
		stream = stream[n:]
	}
	return d
}
