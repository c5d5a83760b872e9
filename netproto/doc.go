// Package netproto fuzzes servers of network protocols. An input is a [dialogue.Dialogue], the messages of one conversation;
// package model describes protocols, package conn has the server and the connection, package judge says what is wrong.
//
// A [Target] starts one server for each worker. An execution is one dialogue: every message is sent when the server has
// handled the one before, which the kernel knows, so that nothing waits for a time to pass. What is reached guides what is
// tried next: the edges of a server that was built with 'teasel cc' or AFL++'s compilers, and the states and the kinds of
// response of any other.
package netproto
