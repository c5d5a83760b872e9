// Package conn starts the server under test, talks to it, and knows when it is done with what it was sent.
//
// A [Server] is a command that runs in a folder, on a port and as a user of its own, until it listens. A [Connection] is
// one conversation with it, over TCP, UDP, a Unix socket, TLS, or the command's own standard input and output. After each
// message [Server.Settle] asks the kernel whether all threads of the server sleep: then it has handled the message, whether
// it answers or not, and nobody has to wait for a time to pass. A server that somebody else has started cannot be asked;
// for such a one [Patience] learns from the answers how long to wait.
//
// Servers that cannot have ports of their own can have network namespaces of their own, where that is allowed: [NamespaceAllowed].
//
// Nothing here knows what is said. The package needs Linux.
package conn
