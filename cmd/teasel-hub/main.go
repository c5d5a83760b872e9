// The teasel-hub command is the hub of a fleet: a NATS server with JetStream for a team that has none. It stores what it acknowledges, and
// refuses to listen beyond this machine without TLS and credentials.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// The exit statuses, as those of teasel.
const (
	statusOK      = 0
	statusUsage   = 2
	statusFailure = 4
)

// usageError is a mistake of the user's.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

func usage(hint, format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...), hint}
}

// run is main without the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return statusOK
	}
	fmt.Fprintf(stderr, "teasel-hub: %v\n", err)
	var u *usageError
	if !errors.As(err, &u) {
		if root.CalledAs() == "" {
			return statusUsage
		}
		return statusFailure
	}
	if u.hint != "" {
		fmt.Fprintf(stderr, "hint: %s\n", u.hint)
	}
	return statusUsage
}

func newRoot() *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:   "teasel-hub",
		Short: "Be the hub of a fleet of teasel campaigns",
		Long: `Be the hub of a fleet: a NATS server with JetStream that keeps the testcases, findings and figures of campaigns on many machines. What it
acknowledges is on its disk. On 127.0.0.1 it needs nothing else; to be reached from other machines it needs TLS and credentials, which
'teasel-hub init' makes.`,
		Example: `  teasel-hub
  teasel-hub init --host hub.example.org --campaign parser --machines 4
  teasel-hub --listen :4222`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), &o, cmd.ErrOrStderr()) },
	}
	f := root.Flags()
	root.PersistentFlags().StringVar(&o.dir, "dir", "teasel-hub", "directory of the hub: what it stores, users.json, and tls")
	f.StringVar(&o.listen, "listen", "127.0.0.1:4222", "address to listen at; port 0 is any that is free")
	f.StringVar(&o.cert, "tls-cert", "", "file with the hub's certificate (default: tls/hub.pem in --dir, if it is there)")
	f.StringVar(&o.key, "tls-key", "", "file with the key of the certificate (default: tls/hub-key.pem in --dir)")
	f.StringVar(&o.maxStore, "max-store", "8GiB", "room for what is stored; a hub that is full refuses more, and the machines keep it")
	root.AddCommand(newInit(&o))
	return root
}
