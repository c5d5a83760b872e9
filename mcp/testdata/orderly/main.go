// Command orderly is an MCP server over stdio that does nothing wrong, in the way that its first argument names: each way
// looks like a fault to whoever does not look closely. Nothing above information may be found on any of them.
//
// It ends after ten minutes at the latest.
package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// mode is one way to look wrong.
type mode struct {
	name  string
	about string
	setUp func(s *server)
}

func modes() []mode { return slices.Concat(toolModes(), protocolModes(), fileModes()) }

func main() {
	time.AfterFunc(10*time.Minute, func() { os.Exit(4) })
	if len(os.Args) < 2 {
		for _, m := range modes() {
			if m.name != "files-prefix" && m.name != "files-link" { // these are not orderly
				fmt.Printf("%s\t%s\n", m.name, m.about)
			}
		}
		return
	}
	for _, m := range modes() {
		if m.name == os.Args[1] {
			s := newServer(os.Stdout)
			m.setUp(s)
			s.serve(os.Stdin)
			return
		}
	}
	fmt.Fprintf(os.Stderr, "orderly: no such mode: %s\n", os.Args[1])
	os.Exit(2)
}
