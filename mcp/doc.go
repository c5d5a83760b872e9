// Package mcp fuzzes servers that speak the Model Context Protocol over standard input and output.
//
// An input is a [Script]: messages to send, and what of the answers goes into later ones. A [Target] is the command that
// starts a server; a [Visit] shows what it has, and a [Selection] says which of its tools may be called. A [Mutator]
// makes scripts of that and changes them, and [Detectors] judge the exchange by the [Rules]. [Campaign] puts all of it
// together for the engine; the folder examples/mcp has a program that does.
package mcp
