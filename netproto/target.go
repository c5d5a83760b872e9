package netproto

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// StartError is the error of a server that cannot be started, or reached.
type StartError = conn.StartError

// Target is a server to fuzz. Address must be set. It is read only while it is used.
type Target struct {
	// Address is where the server listens: HOST:PORT, udp://HOST:PORT, tls://HOST:PORT, unix:PATH or stdio. With a Command it
	// may have {port}, {socket} and {dir} in it, as the command may.
	Address string
	// Command starts the server. Empty: somebody else has started it, so that it can be neither watched nor started again.
	Command []string
	Env     []string // added to our own environment, NAME=value
	Dir     string   // working directory of the server; "": a folder of its own, {dir}
	User    string   // that the server runs as; "": nobody, if we are root, or else ourselves

	// Namespace starts the server of each executor in a network namespace of its own if Address has no placeholder, so that several
	// servers with the same port can run at the same time. Address has to be on the loopback interface; nothing else is reached from
	// there. It takes the right to make namespaces: [Target.Inspect] says whether that is given.
	Namespace bool

	// Scratch is the folder in which each server has a home and a temporary directory of its own; "": it has ours. With Sandbox it runs in
	// a sandbox, which needs Scratch and what the command does for --sandbox; Allow opens it, as --sandbox-allow has it.
	Scratch  string
	Sandbox  bool
	Allow    []string
	KeepHome bool // the server of a [Target.Script] has ours

	Model *model.Model // nil: messages are bytes
	Keep  bool         // dialogues share a connection as long as it holds; false: each has a new one

	Timeout time.Duration // processor time that the server may use for one message, and time without an answer; 0: 1 s
	Start   time.Duration // that the server may take until it listens; 0: 10 s
	Memory  uint64        // bytes that the server may hold; 0: 2 GiB
	Restart uint64        // dialogues after which the server is started anew; 0: never, unless it has to be
	Reset   []string      // command that makes the server as it was, in place of starting it anew; it may have placeholders, and is run once when the target is opened
	Health  []string      // command that says by its exit status whether the server is well; it has to be when the target is opened
	Strict  bool          // a response that breaks the model is a finding
	// Thorough has every dialogue judged in full, with the health check and repetitions that show a leak. Otherwise a few are,
	// and those that a finding is confirmed with.
	Thorough bool
	// Understood counts responses that the model knows, and that come where it expects them or where it expects none in particular; nil:
	// nobody wants to know.
	Understood *atomic.Uint64
	// Ready is a server that [Target.Inspect] has left running, which the first executor takes in place of starting one; nil: there is none.
	Ready *Ready
	// Answers notes whether all answers are errors, or there are none; nil: nobody wants to know.
	Answers *Answers
	// Complexity measures an input, as the campaign's mutator does; nil: its bytes.
	Complexity func(*dialogue.Dialogue) float64
}

var _ teasel.Target[*dialogue.Dialogue] = Target{}

const (
	usualTimeout = time.Second
	usualMemory  = 2 << 30
)

// Open starts the server, or connects to the one that is there.
func (t Target) Open(ctx context.Context, _ teasel.Role) (teasel.Executor[*dialogue.Dialogue], error) {
	if e := t.Ready.take(); e != nil {
		e.target = t.withDefaults()
		return e, nil
	}
	e, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// open makes an executor whose server is up.
func (t Target) open(ctx context.Context) (*executor, error) {
	address, err := conn.ParseAddress(t.Address)
	if err != nil {
		return nil, err
	}
	address.Follow = t.Model != nil && t.Model.Connection.Follow
	t = t.withDefaults()
	e := &executor{target: t, instruments: instruments{programs: map[string]traits{}}, known: newKnown(), address: address, datagrams: address.Network == conn.UDP}
	e.turnTo(0)
	if t.Thorough {
		e.thorough = always
	}
	if err = e.launch(ctx); err == nil {
		err = e.firstContact(ctx)
	}
	if err == nil {
		err = e.tryCommands(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// withDefaults returns the target with what it leaves open.
func (t Target) withDefaults() Target {
	if t.Timeout == 0 {
		t.Timeout = usualTimeout
	}
	if t.Memory == 0 {
		t.Memory = usualMemory
	}
	if t.Complexity == nil {
		t.Complexity = func(d *dialogue.Dialogue) float64 { return float64(d.Bytes()) }
	}
	return t
}

// Ready is a server that runs, and that nothing was sent to. A nil one is none.
type Ready struct{ e atomic.Pointer[executor] }

// take returns the server, once; nil: there is none, or it was taken.
func (r *Ready) take() *executor {
	if r == nil {
		return nil
	}
	return r.e.Swap(nil)
}

// Close ends the server, unless it was taken.
func (r *Ready) Close() error {
	if e := r.take(); e != nil {
		return e.Close()
	}
	return nil
}

// launch starts the server, if it is ours to start.
func (e *executor) launch(ctx context.Context) (err error) {
	t := e.target
	if len(t.Command) == 0 {
		return nil
	}
	if err = e.makeMaps(ctx); err != nil {
		return err
	}
	command := conn.Command{Args: t.Command, Dir: t.Dir, User: t.User, Address: e.address, Start: t.Start,
		Namespace: t.Namespace && !e.address.Own(), Scratch: t.Scratch, Sandbox: t.Sandbox, Allow: t.Allow}
	command.Env = slices.Concat(t.Env, sanitizerEnv(t.Env), e.coverage.env())
	if e.server, err = conn.Open(ctx, command); err != nil {
		return err
	}
	if e.address.Network != conn.Stdio && detached(e.server.PID()) {
		if err = e.server.Close(); err != nil {
			return err
		}
		command.Env = slices.Concat(t.Env, sanitizerEnv(t.Env, reportOption), e.coverage.env())
		if e.server, err = conn.Open(ctx, command); err != nil {
			return err
		}
		e.reports = &reports{dir: e.server.Dir()}
		e.reports.renew()
	}
	e.address = e.server.Address()
	if err := e.inspectServer(ctx); err != nil {
		return err
	}
	found, err := e.coverage.choose()
	if !found {
		err = errors.Join(err, e.coverage.close())
		e.coverage = nil
		return err
	}
	e.coverage.started(e.server.PID())
	return err
}

// firstContact looks whether the server takes connections, before it is blamed for anything.
func (e *executor) firstContact(ctx context.Context) error {
	c, err := e.dial(ctx)
	if err == nil {
		e.baseline = e.usage()
		e.countFiles()
		if err = c.Close(); err == nil {
			err = e.noteOnce(ctx)
		}
		if err != nil || e.session.Bootstrap() == nil {
			return err
		}
		return e.tryBootstrap(ctx)
	}
	var handshake *conn.HandshakeError
	if errors.As(err, &handshake) && ctx.Err() == nil {
		failed := &conn.StartError{Reason: fmt.Sprintf("it takes connections on %v, but %v", e.address, handshake),
			Hint: "does it speak TLS there, and from the first byte on? tcp:// in place of tls:// is for a server that does not"}
		if e.server != nil {
			failed.Stderr = strings.TrimSpace(string(e.server.Output()))
		}
		return failed
	}
	if conn.Refused(err) && e.server != nil {
		failed := &StartError{Reason: fmt.Sprintf("it takes no connections on %v", e.address), Stderr: strings.TrimSpace(string(e.server.Output()))}
		if where := e.server.Listens(); len(where) > 0 {
			failed.Reason += "; it listens on " + strings.Join(where, " and ") + " of another address"
			failed.Hint = "let --connect name that address; [::1]:{port} is the loopback of IPv6"
		}
		return failed
	}
	if conn.Refused(err) {
		return &StartError{Reason: fmt.Sprintf("nothing listens on %v", e.address), Hint: "start the server, or give its command behind --"}
	}
	return &StartError{Reason: err.Error()}
}

// tryBootstrap looks whether the server answers as the model's bootstrap has it.
func (e *executor) tryBootstrap(ctx context.Context) error {
	if e.down {
		if err := e.renew(ctx); err != nil {
			return err
		}
	}
	t := talk{e: e, in: &dialogue.Dialogue{}, limit: e.target.Timeout, work: e.target.Timeout}
	if err := errors.Join(t.run(ctx), e.hangUp()); err != nil {
		return err
	}
	e.down = t.over
	if t.unready != nil {
		return unreadyError(t.unready, t.heard)
	}
	return nil
}
