package netproto

import (
	"bytes"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// SeedCodec reads the inputs that a user brings: dialogues as [dialogue.Codec] writes them, and files of plain bytes that a
// client sends, which are split into messages by the model.
type SeedCodec struct{ Model *model.Model }

var _ teasel.Codec[*dialogue.Dialogue] = SeedCodec{}

// Encode writes a dialogue.
func (c SeedCodec) Encode(in *dialogue.Dialogue) ([]byte, error) {
	return dialogue.Codec{Model: c.Model}.Encode(in)
}

// Decode reads a dialogue or bytes. Everything is an input.
func (c SeedCodec) Decode(data []byte) (*dialogue.Dialogue, error) {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte(`{"teasel-dialogue"`)) {
		return dialogue.Codec{Model: c.Model}.Decode(data)
	}
	return dialogue.Split(c.Model, data), nil
}
