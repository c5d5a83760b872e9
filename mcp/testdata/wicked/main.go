// Command wicked is an MCP server, mostly over stdio, that misbehaves in the way its first argument names, so that a fuzzer can
// show that it neither hangs on such a server nor leaks its processes. Apart from that way it is a small plain server.
//
// Whatever it does, it ends after ten minutes at the latest, and what it forks does too.
package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// mode is one way to misbehave.
type mode struct {
	name  string
	about string
	run   func(arguments []string) int // returns the exit status
}

func modes() []mode {
	return slices.Concat(startModes(), floodModes(), streamModes(), processModes(), protocolModes(), httpModes())
}

// lifetime is how long a process may last that nobody stops.
const lifetime = 10 * time.Minute

func main() {
	time.AfterFunc(lifetime, func() { os.Exit(4) })
	all := modes()
	if len(os.Args) < 2 {
		for _, m := range all {
			fmt.Printf("%s\t%s\n", m.name, m.about)
		}
		return
	}
	for _, m := range all {
		if m.name == os.Args[1] {
			os.Exit(m.run(os.Args[2:]))
		}
	}
	fmt.Fprintf(os.Stderr, "wicked: no way to misbehave is called %q; without an argument all are listed\n", os.Args[1])
	os.Exit(2)
}

func waitForEver() int {
	time.Sleep(lifetime)
	return 4
}
