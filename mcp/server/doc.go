// Package server starts MCP servers, initializes their sessions, and asks them what they have.
package server
