// Command mcp measures how much of a server's speed teasel uses. It
// runs a bare client, teasel on one tool and teasel on the whole server in
// turn, several times over, and prints the rates side by side.
//
//	go run ./bench/mcp [flags] [-- COMMAND [ARG...]]
//
// Without a command it takes server-everything from mcp/testdata/servers.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/internal/bench"
)

// settings is the command line.
type settings struct {
	rounds   int
	duration time.Duration // of one measurement
	window   int           // requests that the bare client keeps in flight
	tool     string
	args     string // the bare client's arguments for tool, as JSON
	request  string // what it sends instead of calls of tool: the other members of a message, as JSON
	bare     bool   // leave teasel out
	url      string // of a server over HTTP; empty: standard input and output
	env      string // a variable of its environment, NAME=VALUE
	teasel   string // binary; empty: built from this module
	out      string // for the campaigns; empty: a temporary folder
	server   []string
}

func main() {
	bench.Main(func(ctx context.Context, args []string) error {
		s, err := parse(args)
		if err != nil {
			return err
		}
		return run(ctx, s, os.Stdout, os.Stderr)
	})
}

func parse(args []string) (settings, error) {
	var s settings
	fs := flag.NewFlagSet("bench/mcp", flag.ContinueOnError)
	fs.IntVar(&s.rounds, "rounds", 3, "how often each is measured, in turn")
	fs.DurationVar(&s.duration, "duration", 10*time.Second, "how long each measurement takes")
	fs.IntVar(&s.window, "window", 32, "requests the bare client keeps in flight")
	fs.StringVar(&s.tool, "tool", "echo", "the tool that is called")
	fs.StringVar(&s.args, "args", `{"message":"hi"}`, "the bare client's arguments for it")
	fs.StringVar(&s.request, "request", "", "what it sends instead, as `JSON` without jsonrpc and id, such as {\"method\":\"ping\"}; a refusal will do")
	fs.BoolVar(&s.bare, "bare", false, "measure only the bare client")
	fs.StringVar(&s.url, "url", "", "where the server listens, for one over HTTP, with {port} in it and in -env or the command")
	fs.StringVar(&s.env, "env", "PORT={port}", "variable of the environment of a server over HTTP, `NAME=VALUE`")
	fs.StringVar(&s.teasel, "teasel", "", "teasel `binary` (default: built from this module)")
	fs.StringVar(&s.out, "out", "", "`folder` for the campaigns (default: a temporary one)")
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	s.server = fs.Args()
	switch {
	case s.rounds < 1 || s.window < 1 || s.duration < time.Second:
		return s, errors.New("want at least one round, one request in flight and one second")
	case !json.Valid([]byte(s.args)):
		return s, fmt.Errorf("-args is not JSON: %s", s.args)
	case s.request != "" && s.url != "":
		return s, errors.New("-request is for servers over standard input and output")
	case s.request != "" && (!json.Valid([]byte(s.request)) || s.request[0] != '{' || len(s.request) < len(`{"method":""}`)):
		return s, fmt.Errorf("-request is no JSON object with a method: %s", s.request)
	}
	return s, nil
}

// run measures and prints the table to w, progress to log.
func run(ctx context.Context, s settings, w, log io.Writer) error {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	if len(s.server) == 0 {
		js := filepath.Join(root, "mcp/testdata/servers/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
		if _, err := os.Stat(js); err != nil {
			return fmt.Errorf("%w (scripts/setup-test.sh installs it)", err)
		}
		s.server = []string{"node", js}
	}
	tmp, err := os.MkdirTemp("", "teasel-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if s.out == "" {
		s.out = tmp
	}
	if s.teasel == "" && !s.bare {
		s.teasel = filepath.Join(tmp, "teasel")
		build := exec.CommandContext(ctx, "go", "build", "-o", s.teasel, "./cmd/teasel")
		build.Dir, build.Stderr = root, log
		if err := build.Run(); err != nil {
			return fmt.Errorf("building teasel: %w", err)
		}
	}

	rows := contestants(s)
	for round := range s.rounds {
		for i := range rows {
			got, err := rows[i].measure(ctx, round)
			if err != nil {
				return fmt.Errorf("%s: %w", rows[i].name, err)
			}
			rows[i].samples = append(rows[i].samples, got)
			fmt.Fprintf(log, "round %d/%d  %-28s %9.0f /s\n", round+1, s.rounds, rows[i].name, got.rate)
		}
	}
	fmt.Fprintf(w, "server: %s\n%d rounds of %v each\n\n", strings.Join(s.server, " "), s.rounds, s.duration)
	return printTable(w, rows)
}

// contestants lists what is measured in each round. The bare client comes
// first: the others are compared with it.
func contestants(s settings) []row {
	rows := []row{{
		name: fmt.Sprintf("bare client, %d in flight", s.window),
		measure: func(ctx context.Context, _ int) (sample, error) {
			if s.url != "" {
				return bareHTTP(ctx, s)
			}
			return bareClient(ctx, s)
		},
	}}
	if s.bare {
		return rows
	}
	if s.url == "" {
		rows = append(rows, row{
			name:    "the same messages, no fuzzer",
			measure: func(ctx context.Context, round int) (sample, error) { return serverAlone(ctx, s, round) },
		})
	}
	return append(rows,
		row{
			name: "teasel, " + s.tool + " only",
			measure: func(ctx context.Context, round int) (sample, error) {
				return campaign(ctx, s, fmt.Sprintf("tool-%d", round), round, "--include", s.tool)
			},
		},
		row{
			name: "teasel, whole server",
			measure: func(ctx context.Context, round int) (sample, error) {
				return campaign(ctx, s, fmt.Sprintf("all-%d", round), round)
			},
		})
}

// moduleRoot is the folder of this module's go.mod.
func moduleRoot(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
