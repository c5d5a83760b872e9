package dialogue

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/netproto/model"
)

func TestCodecKeepsRawDialogues(t *testing.T) {
	d := Raw([]byte("USER anonymous\r\n"), []byte{0, 0xff, '<'}, nil)
	d.Messages[1].NoWait, d.Messages[2].Reconnect = true, true
	data, err := Codec{}.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"teasel-dialogue":1,"messages":[
{"text":"USER anonymous\r\n"},
{"hex":"00ff3c","nowait":true},
{"text":"","reconnect":true}]}`
	if string(data) != want {
		t.Errorf("encoded as\n%s\nexpected\n%s", data, want)
	}
	back, err := Codec{}.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Codec{}.Encode(back)
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != want {
		t.Errorf("encoded again as\n%s", again)
	}
}

func TestCodecRefuses(t *testing.T) {
	for _, test := range []struct{ name, data, want string }{
		{"no JSON", `{`, "reading a dialogue"},
		{"no version", `{"messages":[]}`, "version 0"},
		{"a newer version", `{"teasel-dialogue":3}`, "version 3"},
		{"an unknown name", `{"teasel-dialogue":1,"mesages":[]}`, "mesages"},
		{"text and hex", `{"teasel-dialogue":1,"messages":[{"text":"a","hex":"00"}]}`, "message 1: it has both"},
		{"odd hex", `{"teasel-dialogue":1,"messages":[{},{"hex":"0"}]}`, "message 2: hex"},
	} {
		if _, err := (Codec{}).Decode([]byte(test.data)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, expected %q in it", test.name, err, test.want)
		}
	}
}

// A layout whose fields end beyond the bytes is passed over, however large its numbers are.
func TestCodecPassesOverLayoutsThatDoNotFit(t *testing.T) {
	for _, m := range exampleModels(t) {
		for _, seed := range Seeds(m) {
			for i := range seed.Messages {
				msg := &seed.Messages[i]
				if len(msg.Nodes) < 2 {
					continue
				}
				var tree model.Tree
				for _, span := range []string{"@8+2147483640", "@2147483647+2147483647", "@0+-8", "@-8+16", "@0+8000"} {
					entry := msg.Nodes[1].Field.ID + span
					if err := m.Message(msg.Name).SetLayout(&tree, []byte("abc\n"), entry); err == nil {
						t.Errorf("%s: %s: the layout %s fits", m.ID, msg.Name, entry)
					}
				}
			}
		}
	}
}
