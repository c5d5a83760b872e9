package netserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// mutationOf reads the flags, and the file if it has a text.
func mutationOf(t *testing.T, file string, args ...string) (*mutation, *flags.Mutation, error) {
	t.Helper()
	var o mutation
	var shared flags.Mutation
	root, cmd := &cobra.Command{Use: "teasel"}, &cobra.Command{Use: "net"}
	root.AddCommand(cmd)
	addMutation(cmd.Flags(), &o)
	flags.AddMutation(cmd.Flags(), &shared)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "teasel.toml")
	if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := (&flags.Configured{Config: path}).Configure(cmd, "net", nil)
	if err == nil {
		err = o.check()
	}
	return &o, &shared, err
}

func TestMutationOfFlagsAndFile(t *testing.T) {
	m, err := model.Load("../../../../examples/net/mqtt.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const file = "[net]\nmode = \"bytes\"\norder-share = 0\nbit-ratio = 0.5\nbyte-ratio = 0.25\nmax-messages = 3\nmax-bytes = 100\nfield = [\"connect.body\"]\n[net.weights]\nlie = 30\nmend = 0\n"
	o, shared, err := mutationOf(t, file, "--mode", "structure")
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.mutator(m, &mutate.Dictionary{}, shared)
	if err != nil {
		t.Fatal(err)
	}
	if got.Mode != dialogue.Structure || got.OrderShare != -1 || got.StructureShare != 70 || got.BitRatio != 0.5 || got.ByteRatio != 0.25 || got.MaxMessages != 3 || got.MaxBytes != 100 ||
		len(got.Fields) != 1 || len(got.Weights) != 2 || got.Weights[dialogue.OpLie] != 30 || got.Weights[dialogue.OpMend] != 0 {
		t.Errorf("the mutator is %+v", got)
	}
	o, shared, err = mutationOf(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err = o.mutator(nil, &mutate.Dictionary{}, shared); err != nil || got.Mode != dialogue.ModeInvalid || got.StructureShare != 70 || got.OrderShare != 25 {
		t.Errorf("without any setting the mutator is %+v, %v", got, err)
	}
}

func TestMutationErrors(t *testing.T) {
	m, err := model.Load("../../../../examples/net/mqtt.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		file, want string
		m          *model.Model
	}{
		{"mode = \"fields\"", "expected one of bytes, structure, hybrid", m},
		{"structure-share = 101", "--structure-share 101: expected a number from 0 to 100", m},
		{"order-share = -1", "--order-share -1: expected a number from 0 to 100", m},
		{"bit-ratio = 2.0", "--bit-ratio 2: expected a share from 0 to 1", m},
		{"byte-ratio = nan", "--byte-ratio NaN: expected a share from 0 to 1", m},
		{"max-messages = -1", "--max-messages -1: expected a number of messages", m},
		{"max-bytes = -1", "--max-bytes -1: expected a number of bytes", m},
		{"weights = {lies = 3}", "there is no mutation \"lies\"", m},
		{"weights = {lie = -3}", "lie = -3: expected a number", m},
		{"field = [\"connect.bodi\"]", "--field connect.bodi: no message has such a field", m},
		{"field = [\"connect.body\"]", "without --model messages have no fields", nil},
		{"mode = \"structure\"", "without --model messages have no fields", nil},
	} {
		o, shared, err := mutationOf(t, "[net]\n"+test.file+"\n")
		if err == nil {
			_, err = o.mutator(test.m, &mutate.Dictionary{}, shared)
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, expected %q in it", test.file, err, test.want)
		}
	}
}
