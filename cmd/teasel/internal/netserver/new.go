package netserver

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/netproto/model"
)

var (
	//go:embed template/binary.yaml
	binaryTemplate string
	//go:embed template/text.yaml
	textTemplate string
)

// modelName is what the id of a model may look like.
var modelName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

func newNew() *cobra.Command {
	text := false
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a commented description of a protocol to start from",
		Long: `Write NAME.yaml, a commented description of a small protocol that shows most of what can be said. It is a whole model, which
'teasel net check' accepts: change it step by step into that of your protocol. The file must not exist. If teasel has a model
of the protocol with that name, such as mqtt, it is that one.`,
		Example: `  teasel net new thermostat
  teasel net new mqtt
  teasel net new --text chat`,
		Args: flags.Args(1, 1, "NAME, such as thermostat"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeModel(cmd, args[0], text)
		},
	}
	cmd.Flags().BoolVar(&text, "text", false, "a protocol of text lines in place of a binary one")
	return cmd
}

func writeModel(cmd *cobra.Command, arg string, text bool) error {
	folder, file := filepath.Split(arg)
	name := strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".yml")
	if !modelName.MatchString(name) {
		return exit.Usage("for example: teasel net new thermostat", "%q is not a valid name of a protocol: lower-case letters, digits, - and _, a letter first", name)
	}
	template := binaryTemplate
	if text {
		template = textTemplate
	}
	if builtIn, ok := model.Protocol(name); ok && !text {
		return createModel(cmd, filepath.Join(folder, name+".yaml"), builtIn)
	}
	return createModel(cmd, filepath.Join(folder, name+".yaml"), []byte(strings.ReplaceAll(template, "NAME", name)))
}

// createModel writes a new file and says what to do with it.
func createModel(cmd *cobra.Command, path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return exit.Usage("choose another name, or remove the file", "%s exists already", path)
	}
	if err != nil {
		return exit.Usage("", "writing the model: %w", err)
	}
	_, err = f.Write(content)
	if err := errors.Join(err, f.Close()); err != nil {
		return exit.Failure(fmt.Errorf("writing the model: %w", err))
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s is written; 'teasel net check %s' shows what it says\n", path, path)
	return nil
}
