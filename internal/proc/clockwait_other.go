//go:build !amd64

package proc

// The system calls that newer architectures, such as arm64, do not have.
const (
	epollWait = -2 - iota
	poll
	selectCall
)
