package agent

import "embed"

// Source is this package's own source, but for this file: what is added to the standard library of a test binary.
//
//go:embed describe.go doc.go layout.go novelty.go record.go value.go worker.go
var Source embed.FS
