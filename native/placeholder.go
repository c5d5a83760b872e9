package native

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// placeholder matches what stands for the input file in a command, as in AFL++, with what belongs to its path: a folder, and the
// beginning and the end of its name. So a program that insists on a name gets it: @@.png, conf.d/@@.conf, --in=@@.
var placeholder = regexp.MustCompile(`((?:[^\s=:;,|"'()<>&/]*/)*)([^\s=:;,|"'()<>&/]*)@@([\w.+~-]*)`)

// Placed returns a copy of a command in which file replaces every @@ in the arguments, also as a part of one. What is around @@ in a path
// is kept: for @@.png it is a file beside the given one, with .png behind its name. names are the files that the arguments name; none:
// there is no @@, and the program reads inputs from standard input, or is a harness.
func Placed(command []string, file string) (placed, names []string) {
	placed = slices.Clone(command)
	for i := 1; i < len(placed); i++ {
		placed[i] = place(placed[i], file, &names)
	}
	return placed, names
}

// place replaces the placeholders of an argument, and adds the files that it names.
func place(arg, file string, names *[]string) string {
	var b strings.Builder
	end := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(arg, -1) {
		before, folder, head, tail := arg[end:m[0]], arg[m[2]:m[3]], arg[m[4]:m[5]], arg[m[6]:m[7]]
		if m[0] == 0 && strings.HasPrefix(arg, "-") { // an option without a = before its value
			switch {
			case folder == "":
				before, head = head, ""
			case !strings.HasPrefix(arg, "--"):
				before, folder = folder[:min(2, len(folder)-1)], folder[min(2, len(folder)-1):]
			}
		}
		if slashes := strings.TrimSuffix(folder, "/"); strings.Trim(folder, "/") == "" { // file:///@@
			before, folder = before+slashes, ""
		}
		name := file
		if folder != "" || head != "" || tail != "" {
			name = filepath.Join(filepath.Dir(file), filepath.Join("/", folder), head+filepath.Base(file)+tail)
		}
		if !slices.Contains(*names, name) {
			*names = append(*names, name)
		}
		b.WriteString(before + name)
		end = m[1]
	}
	return b.String() + arg[end:]
}

// Link makes the files that [Placed] names of one that exists.
func Link(file string, names []string) error {
	for _, name := range names {
		if name == file {
			continue
		}
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = os.Symlink(file, name)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("naming the input: %w", err)
		}
	}
	return nil
}

// placeFile is Placed with a file in a new folder, whose path is input; input and folder are "" if there is no @@. If the arguments give it
// several names, the others are links to the first.
func placeFile(command []string) (args []string, input, folder string, err error) {
	if _, names := Placed(command, "input"); len(names) == 0 {
		return slices.Clone(command), "", "", nil
	}
	if folder, err = os.MkdirTemp(scratch(), "teasel-"); err != nil {
		return nil, "", "", fmt.Errorf("making a folder for the input: %w", err)
	}
	args, names := Placed(command, filepath.Join(folder, "input"))
	input = names[0]
	if err = os.MkdirAll(filepath.Dir(input), 0o700); err != nil {
		return nil, "", "", fmt.Errorf("making a folder for the input: %w", err)
	}
	return args, input, folder, Link(input, names)
}

// scratch returns a folder for temporary files, in memory if possible.
func scratch() string {
	const shm = "/dev/shm"
	if i, err := os.Stat(shm); err == nil && i.IsDir() && syscall.Access(shm, 2) == nil {
		return shm
	}
	return os.TempDir()
}
