// Package script has the inputs of the MCP kind and what comes of them. A [Script] is lines to send, in which placeholders
// stand for ids and for parts of earlier answers; a [Transcript] is what was said and heard when it ran.
package script
