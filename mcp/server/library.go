package server

import (
	"debug/buildinfo"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/internal/isolation"
)

// The libraries that servers are built on, by the names of their packages.
var (
	npmLibraries    = []string{"@modelcontextprotocol/sdk", "@modelcontextprotocol/server"}
	pythonLibraries = []string{"fastmcp", "mcp"}
	goLibraries     = []string{"github.com/modelcontextprotocol/go-sdk", "github.com/mark3labs/mcp-go", "github.com/metoro-io/mcp-golang", "github.com/ThinkInAIXYZ/go-mcp"}
)

// Library returns which library the server of a command is built on, with its version, such as "@modelcontextprotocol/sdk 1.32.2"; "":
// it is none of those that are known, or that cannot be seen. It looks at files only: the program's build information, the packages
// beside a script that says that it uses one of them.
func Library(command []string, dir string) string {
	if len(command) == 0 {
		return ""
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return ""
	}
	if !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	if found := goLibrary(program); found != "" {
		return found
	}
	for i, arg := range append([]string{program}, command[1:]...) {
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if i > 0 && command[i] == "-m" && i+1 < len(command) {
			return pythonLibrary(program, dir, []byte("import "+strings.ReplaceAll(command[i+1], ".", "\nimport ")))
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		text, err := readScript(real)
		if err != nil || len(text) == 0 {
			continue
		}
		if found := nodeLibrary(real, text); found != "" {
			return found
		}
		interpreter := program
		if !isPython(program) {
			if interpreter, err = exec.LookPath(isolation.Interpreter(real, dir)); err != nil {
				continue
			}
		}
		if found := pythonLibrary(interpreter, filepath.Dir(real), text); found != "" {
			return found
		}
	}
	return ""
}

// maxScript is how long a file may be that is taken for a script.
const maxScript = 16 << 20

// readScript reads a file if it is a text.
func readScript(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxScript {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil || slices.Contains(text[:min(len(text), 512)], 0) {
		return nil, err
	}
	return text, nil
}

// goLibrary reads what a Go program was built of.
func goLibrary(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return ""
	}
	for _, m := range info.Deps {
		if slices.Contains(goLibraries, m.Path) {
			return m.Path + " " + m.Version
		}
	}
	return ""
}

// nodeLibrary finds the package that a script, or the package that it belongs to, says it uses.
func nodeLibrary(path string, text []byte) string {
	used := make(map[string]bool)
	for _, name := range npmLibraries {
		for _, quote := range []string{`"`, "'"} {
			used[name] = used[name] || strings.Contains(string(text), quote+name+quote) || strings.Contains(string(text), quote+name+"/")
		}
	}
	declared := false
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		var pack struct{ Dependencies, DevDependencies, PeerDependencies map[string]string }
		if readJSON(filepath.Join(dir, "package.json"), &pack) && !declared { // the nearest is the script's
			declared = true
			for _, deps := range []map[string]string{pack.Dependencies, pack.DevDependencies, pack.PeerDependencies} {
				for name := range maps.Keys(deps) {
					used[name] = true
				}
			}
		}
		for _, name := range npmLibraries {
			var is struct{ Name, Version string }
			if used[name] && readJSON(filepath.Join(dir, "node_modules", name, "package.json"), &is) && is.Name == name {
				return name + " " + is.Version
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

func readJSON(path string, into any) bool {
	text, err := readScript(path)
	return err == nil && json.Unmarshal(text, into) == nil && len(text) > 0
}

// imports are the modules that a Python script names.
var imports = regexp.MustCompile(`(?m)^[ \t]*(?:from|import)[ \t]+(\w+)`)

// maxModules is how many files of the modules that a script imports are read.
const maxModules = 512

// pythonLibrary finds the package that a script imports, or the modules that it imports.
func pythonLibrary(interpreter, dir string, text []byte) string {
	places := sitePackages(interpreter)
	if len(places) == 0 {
		return ""
	}
	named := modules(text)
	read := 0
	for _, name := range named {
		for _, place := range append([]string{dir}, places...) {
			files, _ := filepath.Glob(filepath.Join(place, name, "*.py"))
			parts, _ := filepath.Glob(filepath.Join(place, name, "*", "*.py")) // the server is often a package in the package
			for _, file := range slices.Concat(files, parts, []string{filepath.Join(place, name+".py")}) {
				if slices.Contains(pythonLibraries, name) || read >= maxModules {
					break
				}
				if text, err := readScript(file); err == nil && text != nil {
					read++
					named = append(named, modules(text)...)
				}
			}
		}
	}
	for _, name := range pythonLibraries {
		for _, place := range places {
			if found, _ := filepath.Glob(filepath.Join(place, name+"-*.dist-info")); len(found) > 0 && slices.Contains(named, name) {
				return name + " " + strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), name+"-"), ".dist-info")
			}
		}
	}
	return ""
}

func modules(text []byte) (names []string) {
	for _, m := range imports.FindAllSubmatch(text, -1) {
		if name := string(m[1]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func isPython(program string) bool { return strings.HasPrefix(filepath.Base(program), "python") }

// sitePackages returns where a Python interpreter has its packages; nil: it is none.
func sitePackages(interpreter string) (places []string) {
	if !isPython(interpreter) {
		return nil
	}
	prefix := filepath.Dir(filepath.Dir(interpreter)) // not where a link leads: that is how a virtual environment is recognised
	for _, pattern := range []string{"lib/python3*/site-packages", "lib/python3*/dist-packages", "local/lib/python3*/dist-packages"} {
		found, _ := filepath.Glob(filepath.Join(prefix, pattern))
		places = append(places, found...)
	}
	return places
}
