package isolation

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// needed returns what a word of the command names by its path, with what belongs to that. program says that it is looked up in PATH.
func needed(arg, dir string, program bool) (paths []string) {
	if program && !strings.Contains(arg, "/") {
		arg = lookPath(arg)
	}
	if _, value, ok := strings.Cut(arg, "="); ok && !program { // --config=FILE
		paths = needed(value, dir, false)
	}
	if arg == "" {
		return paths
	}
	if !filepath.IsAbs(arg) {
		arg = filepath.Join(dir, arg)
	}
	info, err := os.Stat(arg)
	if err != nil {
		return paths
	}
	if info.IsDir() {
		return append(paths, arg)
	}
	for _, path := range []string{arg, realPath(arg)} { // a link to a program is looked for there and here
		paths = append(paths, path, project(filepath.Dir(path)))
		if program && filepath.Base(filepath.Dir(path)) == "bin" { // an installation of its own: ~/.nvm/versions/node/v22
			paths = append(paths, filepath.Dir(filepath.Dir(path)))
		}
	}
	return paths
}

// commandNeeds returns what the words of a command name. A script needs its interpreter, which may be another script.
func commandNeeds(args []string, dir string) (paths []string) {
	for i, arg := range args {
		paths = append(paths, needed(arg, dir, i == 0)...)
	}
	for name, depth := "", 0; len(args) > 0 && depth < 5; depth++ { // the kernel follows no more
		if name = Interpreter(cmp.Or(name, args[0]), dir); name == "" {
			break
		}
		paths = append(paths, needed(name, dir, true)...)
	}
	return paths
}

// Interpreter returns the program that the first line of a script names, behind env or not; "": it names none.
func Interpreter(script, dir string) string {
	if !strings.Contains(script, "/") {
		script = lookPath(script)
	} else if !filepath.IsAbs(script) {
		script = filepath.Join(dir, script)
	}
	f, err := os.Open(script)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256) // no more is read by the kernel
	n, _ := io.ReadFull(f, head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	line, ok := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	if !ok || len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0]
	}
	for _, word := range words[1:] {
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return word
		}
	}
	return ""
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// lookPath is like exec.LookPath, and returns "" for what is not there.
func lookPath(name string) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// Files that are in the topmost folder of a project.
var projectFiles = []string{"package.json", "go.mod", "go.work", "pyproject.toml", "setup.py", "pyvenv.cfg", "Cargo.toml", "Gemfile", "composer.json", "pom.xml", ".git"}

// project returns the topmost folder of the project that a folder is in, or the folder itself.
func project(dir string) string {
	for at := dir; at != "/" && at != "."; at = filepath.Dir(at) {
		for _, name := range projectFiles {
			if _, err := os.Stat(filepath.Join(at, name)); err == nil {
				dir = at
				break
			}
		}
	}
	return dir
}

// toolchains returns the installed programs in the user's home that stand in PATH, and where Go and Rust keep theirs.
func toolchains(home string) (paths []string) {
	if home == "" {
		return nil
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if within(dir, home) && dir != home {
			paths = append(paths, dir)
		}
	}
	return append(paths, filepath.Join(home, "go/pkg/mod"), filepath.Join(home, ".rustup"), filepath.Join(home, ".cargo/bin"))
}
