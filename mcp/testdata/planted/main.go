// Command planted is an MCP server over stdio that is wrong in known places: each bug of its table can be switched on
// by name, and without any it keeps to the protocol in the versions 2024-11-05 to 2025-11-25.
//
// What the specification leaves open is decided so: of a name that stands twice in an object the last one counts; blank
// lines are ignored; a last line without a newline counts; a message may have 64 MiB and any depth; arguments that
// break a tool's input schema are a tool's error from 2025-11-25 on and -32602 before; before notifications/initialized
// everything but ping and initialize is refused with -32600; requests are answered in their order, run_report apart.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(2)
	}
}

func run() error {
	which := flag.String("bugs", "all", "the bugs that are switched on: all, none, or `names` with commas between")
	show := flag.Bool("list", false, "list the bugs: name, class, description and trigger, with tabs between")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if *show {
		return list(os.Stdout)
	}
	on, err := choose(*which)
	if err != nil {
		return err
	}
	return newSession(on, os.Stdout).serve(os.Stdin)
}
