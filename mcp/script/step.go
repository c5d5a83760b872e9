package script

import "github.com/teaselfuzz/teasel/mcp/session"

// Send is a step that is awaited; SendOn is one that is not.
func Send(line []byte) Step { return Step{Line: line} }

// SendText is [Send] of a string.
func SendText(line string) Step { return Step{Line: []byte(line)} }

// SendOn returns a step that is not awaited.
func SendOn(line []byte) Step { return Step{Line: line, NoWait: true} }

// Handshake returns the steps that every session begins with.
func Handshake(version string) []Step {
	return []Step{Send(session.InitializeLine(version)), SendText(session.InitializedLine)}
}

// NewFresh returns a script on a process of its own, shared one in the session that is up.
func NewFresh(check string, steps ...Step) Script {
	return Script{Start: Fresh, Check: check, Steps: steps}
}

// NewShared returns a script for the session that is up.
func NewShared(check string, steps ...Step) Script {
	return Script{Start: Shared, Check: check, Steps: steps}
}
