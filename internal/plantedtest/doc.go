// Package plantedtest tests the planted MCP server in mcp/testdata: without its bugs it conforms to the specification, and each bug
// has exactly the effect that its table describes. For tests that run a fuzzer on the servers, the package lists the rules that a
// fuzzer may report for each bug, and builds the servers.
package plantedtest
