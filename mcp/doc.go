// Package mcp fuzzes servers that speak the Model Context Protocol, over standard input and output or over HTTP.
//
// An input is a [script.Script]: messages to send, and what of the answers goes into later ones. A [run.Target] is the command that
// starts a server; a [server.Visit] shows what it has, and a [session.Selection] says which of its tools may be called. A [gen.Mutator]
// makes scripts of that and changes them, and [judge.Detectors] judge the exchange by the [judge.Rules]. [Campaign] puts all of it
// together for the engine; the folder examples/mcp has a program that does.
package mcp
