package jsonrpc

import "bytes"

// IsOneLine reports whether a line says something, and is one line to the other side too.
func IsOneLine(raw []byte) bool {
	return len(bytes.TrimSpace(raw)) > 0 && bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0
}
