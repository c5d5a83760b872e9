// Package jsonrpc reads and writes the messages of JSON-RPC 2.0 as a fuzzer needs them: what a server sends is read however
// wrong it is, and what is wrong with it is kept; what is sent may be as unusual as one likes, and [Unusual] says in which way.
package jsonrpc
