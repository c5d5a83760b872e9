package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/netproto"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// loadSeeds gathers the inputs to begin with.
func (p *netPlan) loadSeeds(o *netOptions, t netproto.Target, stderr io.Writer) (err error) {
	codec := netproto.SeedCodec{Model: t.Model}
	if p.seeds, err = loadCorpus(o.Corpus, teasel.Codec[*dialogue.Dialogue](codec), stderr); err != nil {
		return err
	}
	for _, c := range o.Captures {
		more, err := captured(c, o.Connect, t.Model)
		if err != nil {
			return err
		}
		p.seeds, p.taken = append(p.seeds, more...), p.taken+len(more)
	}
	p.given = len(p.seeds) > 0
	if !p.given || t.Model != nil {
		for _, s := range t.Seeds() {
			p.seeds = append(p.seeds, seed[*dialogue.Dialogue]{corpus.Valid, s.Name, s.Input})
		}
	}
	return nil
}

// captured reads the dialogues of a capture, FILE or FILE:PORT; without a port it is that of the server.
func captured(text, connect string, m *model.Model) (out []seed[*dialogue.Dialogue], err error) {
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
			return nil, usage("name the server's port in the capture: --pcap "+file+":PORT", "--pcap %s: which port was the server's is not known", file)
		}
	}
	found, err := netproto.ReadCapture(file, port, m)
	if err != nil {
		return nil, usage("--pcap takes what tcpdump -w or Wireshark have written", "%w", err)
	}
	if len(found) == 0 {
		return nil, usage("'tcpdump -nr "+file+"' lists what is in it", "--pcap %s: nothing was sent to port %d in it", file, port)
	}
	for i, d := range found {
		out = append(out, seed[*dialogue.Dialogue]{corpus.Valid, fmt.Sprintf("capture-%d-%d", port, i+1), d})
	}
	return out, nil
}

// seedText says where the seeds are from.
func (p *netPlan) seedText() string {
	if p.taken > 0 {
		return fmt.Sprintf("%s, %d of them from captures", plural(len(p.seeds), "seed", "seeds"), p.taken)
	}
	if p.given {
		return plural(len(p.seeds), "seed", "seeds")
	}
	if p.about.Model != "" {
		return plural(len(p.seeds), "seed", "seeds") + " of the model"
	}
	return plural(len(p.seeds), "seed", "seeds") + " of teasel's own (--corpus DIR or --pcap FILE: yours)"
}
