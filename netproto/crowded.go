package netproto

import "github.com/teaselfuzz/teasel/netproto/conn"

// A server may keep something of each client that has gone, for example a session with its sockets until that times out. Some
// thousand dialogues later it does nothing but look for a free port, or writes beyond its sets of descriptors, of which many hold
// 1,024. Another one does not wait for the processes that it has forked, until the machine has no numbers left for new ones. Such
// a server is started anew before that.

const (
	crowdedEvery = 64  // dialogues between two looks
	mostFiles    = 256 // that a server may have open beyond what it had when it was started
	mostZombies  = 256 // processes that have ended and that it has not waited for
)

// countFiles notes how many files the server has open now that it is up.
func (e *executor) countFiles() {
	if e.server != nil {
		e.firstFiles, e.nextCount = conn.OpenFiles(e.server.PID()), crowdedEvery
	}
}

// crowded reports whether the server has so many files open, or leaves so many processes unreaped, that it is to be started anew.
func (e *executor) crowded() bool {
	if e.server == nil || e.address.Network == conn.Stdio || e.dialogues < e.nextCount {
		return false
	}
	e.nextCount = e.dialogues + crowdedEvery
	if conn.OpenFiles(e.server.PID()) > e.firstFiles+mostFiles {
		e.demand(suspected) // by which dialogue, the next ones may show
		return true
	}
	return e.server.Unreaped() > mostZombies
}
