package native

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// placeholder stands for the input file in a command, as in AFL++.
const placeholder = "@@"

// Placed returns a copy of a command in which file replaces every @@ in the arguments, also as part of an argument, as in
// --file=@@. It returns false if there is no @@: then the program reads inputs from standard input, or is a harness.
func Placed(command []string, file string) (placed []string, ok bool) {
	placed = slices.Clone(command)
	for i := 1; i < len(placed); i++ {
		if strings.Contains(placed[i], placeholder) {
			placed[i], ok = strings.ReplaceAll(placed[i], placeholder, file), true
		}
	}
	return placed, ok
}

// placeFile is Placed with a file in a new folder; input and folder are "" if there is no @@.
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

// scratch returns a folder for temporary files, in memory if possible.
func scratch() string {
	const shm = "/dev/shm"
	if i, err := os.Stat(shm); err == nil && i.IsDir() && syscall.Access(shm, 2) == nil {
		return shm
	}
	return os.TempDir()
}
