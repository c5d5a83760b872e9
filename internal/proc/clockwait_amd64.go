package proc

import "golang.org/x/sys/unix"

// The system calls that newer architectures do not have.
const (
	epollWait  = unix.SYS_EPOLL_WAIT
	poll       = unix.SYS_POLL
	selectCall = unix.SYS_SELECT
)
