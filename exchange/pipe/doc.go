// Package pipe connects a worker process to the hub of its parent.
//
// The worker calls [Dial] and uses the [Client] as its [teasel.Exchange]; the parent calls [Serve] with the exchange that
// [teasel.Hub.Join] returned. Both ends begin with one line of text that names the protocol and the module's version, so that
// programs that do not fit say so instead of misunderstanding each other. Values of encoding/gob follow: both ends are Go
// programs of the same version, gob sends types once and needs no schema, and a call costs some microseconds.
//
// Either side sends a heartbeat when it has nothing else to say. A side that has been silent for too long counts as hung,
// and the connection ends with an error; so it does when the context ends. Heartbeats come from a goroutine of their own and go
// on while a target hangs: ending that execution is the executor's task, and only a process that is stopped as a whole is silent. A
// worker that ends without having said so has died, and Serve reports that to the hub, which gives its seeds and errands to others.
package pipe
