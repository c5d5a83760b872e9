package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
)

// logger prints what the server has to say of what is wrong, such as a disk that is full. The server calls it from many goroutines.
type logger struct {
	mu sync.Mutex
	w  io.Writer
}

var _ server.Logger = (*logger)(nil)

func (l *logger) print(kind, format string, args []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, "teasel-hub: %s: %s\n", kind, fmt.Sprintf(format, args...))
}

// Fatalf implements [server.Logger]. The server ends itself.
func (l *logger) Fatalf(format string, args ...any) { l.print("error", format, args) }

// Errorf implements [server.Logger].
func (l *logger) Errorf(format string, args ...any) { l.print("error", format, args) }

// Warnf implements [server.Logger].
func (l *logger) Warnf(format string, args ...any) { l.print("warning", format, args) }

// Noticef implements [server.Logger]. What goes as it should is not printed.
func (l *logger) Noticef(string, ...any) {}

// Debugf implements [server.Logger].
func (l *logger) Debugf(string, ...any) {}

// Tracef implements [server.Logger].
func (l *logger) Tracef(string, ...any) {}
