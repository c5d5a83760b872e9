package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// StartFailure says why the system has not started a program, and what may help: the command has that name, and err is what [Start] has returned.
// Neither is said of what has nothing to do with the program.
func StartFailure(name string, err error) (what, hint string) {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "command not found: " + name, "check the spelling, install it, or give its path"
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(name); err == nil {
			return "the interpreter in the first line of " + name + ", or the working directory, does not exist", "correct the path in its first line, or name the interpreter: -- python3 server.py"
		}
		return "no such file or directory: " + name, "check the path of the command and the working directory"
	case errors.Is(err, fs.ErrPermission):
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			return name + " is a directory, expected a program", "name the program in it"
		}
		return "not executable: " + name, "make it executable (chmod +x) or name the interpreter, for example: -- node server.js"
	case errors.Is(err, syscall.ENOEXEC):
		return "not a program for this machine: " + name, foreign(name)
	}
	return "", ""
}

// ShellFailure is [StartFailure] of what a shell that was to become the program has written: that is the last it does.
func ShellFailure(name string, status int, stderr string) (what, hint string) {
	const notExecutable, notFound = 126, 127
	if !strings.Contains(stderr, "exec: ") {
		return "", ""
	}
	switch status {
	case notExecutable:
		return "not a program for this machine: " + name, foreign(name)
	case notFound:
		return StartFailure(name, fs.ErrNotExist)
	}
	return "", ""
}

// foreign says what may help where a program cannot be loaded.
func foreign(name string) string {
	if text, err := os.ReadFile(name); err == nil && bytes.HasPrefix(text, []byte("\x7fELF")) {
		return "it was built for another machine, or is cut off: build it for this one"
	}
	return "name the interpreter, for example: -- python3 server.py"
}
