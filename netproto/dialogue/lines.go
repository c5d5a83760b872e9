package dialogue

import "bytes"

// mostSamples is how many messages of seeds are put among those of other dialogues where there is no model that says which there are.
const mostSamples = 24

// Lines returns the lines of a text as messages, as the client of a protocol of lines sends them, and waits for an answer to each. It returns nil
// for a single line, for binary data, and for text with an empty line (an HTTP-like header).
func Lines(text []byte) *Dialogue {
	d := &Dialogue{}
	for line := range bytes.Lines(text) {
		if len(bytes.TrimRight(line, "\r\n")) == 0 || bytes.ContainsFunc(line, unprintable) {
			return nil
		}
		d.resize(len(d.Messages) + 1)
		m := &d.Messages[len(d.Messages)-1]
		m.copyFrom(&Message{})
		m.SetRaw(line)
	}
	if len(d.Messages) < 2 {
		return nil
	}
	return d
}

// unprintable reports whether a character is in no text.
func unprintable(r rune) bool {
	return r < ' ' && r != '\t' && r != '\r' && r != '\n' || r == 0x7f || r == '\uFFFD'
}

// messagesOf returns messages of dialogues, each as a dialogue: first those that begin with a word of their own, which mostly says what
// they are. A text of several lines is none: its lines are.
func messagesOf(seeds []*Dialogue) (all []*Dialogue) {
	words, texts := map[string]bool{}, map[string]bool{}
	for _, again := range [...]bool{false, true} {
		for _, d := range seeds {
			for i := range d.Messages {
				msg := &d.Messages[i]
				word, _, _ := bytes.Cut(bytes.TrimSpace(msg.Data), []byte(" "))
				if len(all) == mostSamples || len(msg.Data) == 0 || Lines(msg.Data) != nil || texts[string(msg.Data)] || words[string(word)] && !again {
					continue
				}
				words[string(word)], texts[string(msg.Data)] = true, true
				one := Message{}
				one.copyFrom(msg)
				one.Client, one.Reconnect, one.NoWait = 0, false, false
				all = append(all, &Dialogue{Messages: []Message{one}})
			}
		}
	}
	return all
}
