package conn

// HandshakeError is the error of a server that takes a connection but does not come to terms over TLS on it.
type HandshakeError struct {
	Err error // what went wrong: the time is over, the server has hung up, or what it has sent is no TLS
}

func (e *HandshakeError) Error() string { return "the TLS handshake failed: " + e.Err.Error() }

func (e *HandshakeError) Unwrap() error { return e.Err }
