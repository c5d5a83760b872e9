package server

import (
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
)

func TestMain(m *testing.M) { mcptest.Main(m) }
