package native

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// placeholder is what stands for the input's file in a command, as in AFL++.
const placeholder = "@@"

// Placed returns a copy of a command with a file in the place of every @@ in its arguments, which may be part of one, as in
// --file=@@. False: there is none, and inputs go to standard input, or to a harness.
func Placed(command []string, file string) (placed []string, ok bool) {
	placed = slices.Clone(command)
	for i := 1; i < len(placed); i++ {
		if strings.Contains(placed[i], placeholder) {
			placed[i], ok = strings.ReplaceAll(placed[i], placeholder, file), true
		}
	}
	return placed, ok
}

// placeFile is Placed with a file of a folder that it makes; "": nothing is placed.
func placeFile(command []string) (args []string, input, folder string, err error) {
	if _, ok := Placed(command, ""); !ok {
		return slices.Clone(command), "", "", nil
	}
	if folder, err = os.MkdirTemp(scratch(), "teasel-"); err != nil {
		return nil, "", "", fmt.Errorf("making a folder for the input: %w", err)
	}
	input = filepath.Join(folder, "input")
	args, _ = Placed(command, input)
	return args, input, folder, nil
}

// scratch is a folder in memory where there is one.
func scratch() string {
	const shm = "/dev/shm"
	if i, err := os.Stat(shm); err == nil && i.IsDir() && syscall.Access(shm, 2) == nil {
		return shm
	}
	return os.TempDir()
}
