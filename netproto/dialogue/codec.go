package dialogue

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// Codec writes dialogues as JSON that a person can read and edit, one message a line:
//
//	{"teasel-dialogue":1,"messages":[
//	{"message":"user","text":"USER anonymous\r\n"},
//	{"hex":"00ff","nowait":true}]}
//
// "text" holds bytes that are printable, "hex" all others. A message may also have "reconnect" and "nowait" (booleans),
// "client", the number of the client that sends it, from 1 on, where there are several, and "layout", which says where its fields are when they cannot be found by parsing; see [model.Tree.AppendLayout]. With a nil
// Model all messages are read as bytes, and keep their names.
type Codec struct {
	Model *model.Model
}

var _ teasel.Codec[*Dialogue] = Codec{}

// Version 2 has clients. A dialogue without them is written as version 1.
const (
	codecVersion  = 1
	clientVersion = 2
)

type messageFile struct {
	Message   string  `json:"message,omitempty"`
	Text      *string `json:"text,omitempty"`
	Hex       *string `json:"hex,omitempty"`
	Client    int     `json:"client,omitempty"`
	Reconnect bool    `json:"reconnect,omitempty"`
	NoWait    bool    `json:"nowait,omitempty"`
	Layout    string  `json:"layout,omitempty"`
}

// Encode writes a dialogue.
func (c Codec) Encode(in *Dialogue) ([]byte, error) {
	if in == nil {
		return nil, errors.New("encoding a dialogue: there is none")
	}
	var b bytes.Buffer
	b.Grow(64 + 4*in.Bytes())
	version := codecVersion
	if in.Clients() > 1 {
		version = clientVersion
	}
	fmt.Fprintf(&b, `{"teasel-dialogue":%d,"messages":[`, version)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	var scratch model.Tree
	for i := range in.Messages {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		if err := enc.Encode(c.file(&in.Messages[i], &scratch)); err != nil {
			return nil, fmt.Errorf("encoding a dialogue: %w", err)
		}
		b.Truncate(b.Len() - 1) // the encoder's newline
	}
	b.WriteString("]}")
	return b.Bytes(), nil
}

func (c Codec) file(m *Message, scratch *model.Tree) messageFile {
	f := messageFile{Message: m.Name, Reconnect: m.Reconnect, NoWait: m.NoWait}
	if m.Client > 0 {
		f.Client = int(m.Client) + 1
	}
	if printable(m.Data) {
		text := string(m.Data)
		f.Text = &text
	} else {
		text := hex.EncodeToString(m.Data)
		f.Hex = &text
	}
	if len(m.Nodes) > 0 && !c.found(m, scratch) {
		f.Layout = string(m.AppendLayout(nil))
	}
	return f
}

// found reports whether parsing gives the fields of a message.
func (c Codec) found(m *Message, scratch *model.Tree) bool {
	if c.Model == nil {
		return false
	}
	kind := c.Model.Message(m.Name)
	return kind != nil && kind.Parse(scratch, m.Data) == nil && slices.Equal(scratch.Nodes, m.Nodes)
}

func printable(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if r != '\r' && r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// Decode reads what Encode wrote, or what somebody wrote by hand. A message that does not fit its model becomes bytes.
func (c Codec) Decode(data []byte) (*Dialogue, error) {
	var file struct {
		Version  int           `json:"teasel-dialogue"`
		Messages []messageFile `json:"messages"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("reading a dialogue: %w", err)
	}
	if file.Version < codecVersion || file.Version > clientVersion {
		return nil, fmt.Errorf("reading a dialogue: version %d: this teasel reads %d to %d", file.Version, codecVersion, clientVersion)
	}
	d := &Dialogue{Messages: make([]Message, len(file.Messages))}
	for i := range file.Messages {
		if err := c.message(&d.Messages[i], &file.Messages[i]); err != nil {
			return nil, fmt.Errorf("reading a dialogue: message %d: %w", i+1, err)
		}
	}
	return d, nil
}

func (c Codec) message(m *Message, f *messageFile) error {
	m.Name, m.Reconnect, m.NoWait = f.Message, f.Reconnect, f.NoWait
	if f.Client < 0 || f.Client > MaxClients {
		return fmt.Errorf("client %d: expected is a number from 1 to %d", f.Client, MaxClients)
	}
	m.Client = uint8(max(f.Client-1, 0))
	var data []byte
	switch {
	case f.Text != nil && f.Hex != nil:
		return errors.New("it has both text and hex")
	case f.Text != nil:
		data = []byte(*f.Text)
	case f.Hex != nil:
		var err error
		if data, err = hex.DecodeString(strings.Join(strings.Fields(*f.Hex), "")); err != nil {
			return fmt.Errorf("hex: %w", err)
		}
	}
	m.SetRaw(data)
	if c.Model == nil || m.Name == "" {
		return nil
	}
	kind := c.Model.Message(m.Name)
	if kind == nil {
		return nil // of another version of the model: its bytes are still good
	}
	if f.Layout != "" && kind.SetLayout(&m.Tree, data, f.Layout) == nil {
		return nil
	}
	_ = kind.Parse(&m.Tree, data) // what does not fit stays bytes
	return nil
}
