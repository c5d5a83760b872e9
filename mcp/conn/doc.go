// Package conn carries lines to and from the process of one server, over its standard input and output, and says in a
// [StartError] why one could not be started.
package conn
