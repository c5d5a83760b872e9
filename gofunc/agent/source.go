package agent

import "embed"

// Source is this package's own source, but for this file: what is added to package internal/fuzz of a test
// binary, under that package's name.
//
//go:embed describe.go doc.go layout.go mark.go message.go novelty.go record.go runner.go stack.go value.go
var Source embed.FS
