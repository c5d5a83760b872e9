package netserver

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// addSeeds adds the seeds of captures, of the model, or of our own, and returns all but the model's.
func (p *plan) addSeeds(o *options, t netproto.Target) (others []*dialogue.Dialogue, err error) {
	for _, c := range o.Captures {
		more, err := captureSeeds(c, o.Connect, t.Model)
		if err != nil {
			return nil, err
		}
		p.Seeds, p.captured = append(p.Seeds, more...), p.captured+len(more)
	}
	p.given = len(p.Seeds) > 0
	if t.Model == nil {
		p.addLines()
	}
	for _, s := range p.Seeds {
		others = append(others, s.Input)
	}
	if p.given && t.Model == nil {
		return others, nil
	}
	for _, s := range t.Seeds() {
		p.Seeds = append(p.Seeds, campaign.Seed[*dialogue.Dialogue]{Folder: corpus.Valid, Name: s.Name, Input: s.Input})
		if t.Model == nil {
			others = append(others, s.Input)
		}
	}
	return others, nil
}

// addLines adds the seeds that are one text of several lines as dialogues of lines.
func (p *plan) addLines() {
	for _, s := range p.Seeds {
		if len(s.Input.Messages) != 1 {
			continue
		}
		if d := dialogue.Lines(s.Input.Messages[0].Data); d != nil {
			p.Seeds = append(p.Seeds, campaign.Seed[*dialogue.Dialogue]{Folder: s.Folder, Name: s.Name + "-lines", Input: d})
		}
	}
}

// captureSeeds reads the dialogues of a capture, FILE or FILE:PORT; without a port it is that of the server.
func captureSeeds(text, connect string, m *model.Model) (out []campaign.Seed[*dialogue.Dialogue], err error) {
	file, port := text, 0
	if at := strings.LastIndexByte(text, ':'); at >= 0 {
		if n, err := strconv.Atoi(text[at+1:]); err == nil {
			file, port = text[:at], n
		}
	}
	if port == 0 {
		if port, err = strconv.Atoi(connect[strings.LastIndexByte(connect, ':')+1:]); err != nil && m != nil {
			port, err = m.Connection.Port, nil
		}
		if err != nil || port == 0 {
			return nil, exit.Usage("name the server's port in the capture: --pcap "+file+":PORT", "--pcap %s: which port was the server's is not known", file)
		}
	}
	found, err := netproto.ReadCapture(file, port, m)
	if err != nil {
		return nil, exit.Usage("--pcap takes what tcpdump -w or Wireshark have written", "%w", err)
	}
	if len(found) == 0 {
		return nil, exit.Usage("'tcpdump -nr "+file+"' lists what is in it", "--pcap %s: nothing was sent to port %d in it", file, port)
	}
	for i, d := range found {
		out = append(out, campaign.Seed[*dialogue.Dialogue]{Folder: corpus.Valid, Name: fmt.Sprintf("capture-%d-%d", port, i+1), Input: d})
	}
	return out, nil
}

// seedText says which seeds there are, and where they are from.
func (p *plan) seedText() string {
	if p.captured > 0 {
		return fmt.Sprintf("%s, %d of them from captures", noun.Count(len(p.Seeds), "seed", "seeds"), p.captured)
	}
	if p.given {
		return noun.Count(len(p.Seeds), "seed", "seeds")
	}
	if p.about.Model != "" {
		return noun.Count(len(p.Seeds), "seed", "seeds") + " of the model"
	}
	return noun.Count(len(p.Seeds), "seed", "seeds") + " of teasel's own (--corpus DIR or --pcap FILE: yours)"
}
