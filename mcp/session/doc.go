// Package session knows what an MCP server offers: its answer to initialize and its lists, which a [Session] has, and the
// [Catalog] that is made of them, in which every tool has examples of arguments. A [Selection] says which tools may be called.
package session
