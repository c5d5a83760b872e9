// Package plantedtest proves that the planted MCP server in mcp/testdata is what it says: conforming without its bugs,
// and with each of them wrong in the one way that its table gives. It also says which rules a fuzzer may report for
// which bug, and builds the servers, for tests that run a fuzzer on them.
package plantedtest
