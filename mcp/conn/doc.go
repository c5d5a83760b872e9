// Package conn carries messages to and from one live server, as bytes: over the standard input and output of a process, or over HTTP.
package conn
