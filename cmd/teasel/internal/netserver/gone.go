package netserver

import (
	"errors"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// goneFinding returns the finding that an error of a campaign is: a server that teasel has not started serves nobody any more. The campaign
// has mostly seen it before, with what the server had last.
func goneFinding(err error) (f teasel.Finding, ok bool) {
	var gone *netproto.GoneError
	if !errors.As(err, &gone) {
		return f, false
	}
	f = gone.Finding()
	f.Input, err = (dialogue.Codec{}).Encode(dialogue.Raw())
	f.Original = f.Input
	return f, err == nil
}
