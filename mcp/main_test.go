package mcp

import "testing"

func TestMain(m *testing.M) { runTests(m) }
