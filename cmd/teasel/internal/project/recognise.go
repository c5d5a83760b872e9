package project

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// recognised is something to fuzz that was found in a project.
type recognised struct {
	kind    string
	what    string   // for people, in one line
	table   string   // lines of its table in teasel.toml
	install []string // commands that CI needs before those of build
	build   []string // commands that make it
}

// project is a folder that is looked at.
type project struct {
	dir   string
	files []string // relative, with slashes, in order
}

// Limits of a look at a project.
const (
	mostProjectFiles = 20_000
	mostSource       = 1 << 20 // bytes of a file that is searched
)

// otherFolders are not looked into: what is in them is not the project's own.
var otherFolders = []string{"node_modules", "vendor", "target", "testdata", "venv", "site-packages", "third_party"}

// recognise looks for what can be fuzzed in a folder.
func recognise(dir string) (found []recognised) {
	p := &project{dir: dir}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case len(p.files) >= mostProjectFiles:
			return fs.SkipAll
		case e.IsDir() && path != dir && (strings.HasPrefix(e.Name(), ".") || slices.Contains(otherFolders, e.Name())):
			return fs.SkipDir
		case e.Type().IsRegular():
			if rel, err := filepath.Rel(dir, path); err == nil {
				p.files = append(p.files, filepath.ToSlash(rel))
			}
		}
		return nil
	})
	for _, look := range []func() []recognised{p.node, p.python, p.goServer, p.models, p.cargoFuzz, p.harnesses, p.goTests} {
		found = append(found, look()...)
	}
	return found
}

// read returns the text of a file; "": it cannot be read, or is long.
func (p *project) read(file string) string {
	path := filepath.Join(p.dir, filepath.FromSlash(file))
	if info, err := os.Stat(path); err != nil || info.Size() > mostSource {
		return ""
	}
	text, _ := os.ReadFile(path)
	return string(text)
}

func (p *project) has(file string) bool { return slices.Contains(p.files, file) }

// with returns the files that have one of these extensions and contain a text that the pattern matches.
func (p *project) with(pattern *regexp.Regexp, extensions ...string) (files []string) {
	for _, f := range p.files {
		if slices.Contains(extensions, filepath.Ext(f)) && pattern.MatchString(p.read(f)) {
			files = append(files, f)
		}
	}
	return files
}

// list returns a list of TOML.
func list(key string, words ...string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, strconv.Quote(w))
	}
	return key + " = [" + strings.Join(quoted, ", ") + "]\n"
}

// node recognises an MCP server in JavaScript.
func (p *project) node() []recognised {
	var pkg struct {
		Name         string            `json:"name"`
		Main         string            `json:"main"`
		Bin          json.RawMessage   `json:"bin"`
		Scripts      map[string]string `json:"scripts"`
		Dependencies map[string]string `json:"dependencies"`
	}
	if json.Unmarshal([]byte(p.read("package.json")), &pkg) != nil {
		return nil
	}
	sdk := ""
	for _, name := range []string{"@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "fastmcp", "mcp-framework"} {
		if pkg.Dependencies[name] != "" {
			sdk = name
			break
		}
	}
	file := nodeFile(pkg.Bin, pkg.Scripts["start"], pkg.Main)
	for _, usual := range []string{"server.js", "index.js", "server.mjs", "index.mjs", "src/index.js"} {
		if file == "" && p.has(usual) {
			file = usual
		}
	}
	if file == "" || sdk == "" && (len(pkg.Bin) == 0 || !strings.Contains(p.read(file), "jsonrpc")) {
		return nil
	}
	r := recognised{kind: "mcp", what: fmt.Sprintf("an MCP server in JavaScript, %s (package.json)", cmp.Or(pkg.Name, file)), table: list("command", "node", file), install: []string{"npm install"}}
	if sdk != "" {
		r.what = fmt.Sprintf("an MCP server in JavaScript, %s (package.json names %s)", cmp.Or(pkg.Name, file), sdk)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "node_modules")); err != nil && len(pkg.Dependencies) > 0 {
		r.install, r.build = nil, append(r.build, "npm install")
	}
	if pkg.Scripts["build"] != "" && !p.has(file) {
		r.build = append(r.build, "npm run build")
	}
	return []recognised{r}
}

// nodeFile returns the file that a package starts: its bin, the one of its start script, or its main; "": it names none.
func nodeFile(bin json.RawMessage, start, main string) string {
	var one string
	var many map[string]string
	if json.Unmarshal(bin, &one) != nil && json.Unmarshal(bin, &many) == nil {
		for _, name := range slices.Backward(slices.Sorted(maps.Keys(many))) {
			one = many[name]
		}
	}
	if words := strings.Fields(start); one == "" && len(words) > 1 && words[0] == "node" {
		one = words[len(words)-1]
	}
	return strings.TrimPrefix(cmp.Or(one, main), "./")
}

var (
	pythonSDK   = regexp.MustCompile(`(?mi)^\s*["']?(mcp|fastmcp)\b`)
	pythonUses  = regexp.MustCompile(`(?m)^\s*(from|import) (mcp|fastmcp)\b`)
	pythonEntry = regexp.MustCompile(`^([\w.]+):(\w+)$`)
)

// python recognises an MCP server in Python.
func (p *project) python() []recognised {
	var config struct {
		Project struct {
			Name         string            `toml:"name"`
			Dependencies []string          `toml:"dependencies"`
			Scripts      map[string]string `toml:"scripts"`
		} `toml:"project"`
	}
	from, install := "pyproject.toml", "pip install -e ."
	if toml.Unmarshal([]byte(p.read(from)), &config) != nil || !slices.ContainsFunc(config.Project.Dependencies, pythonSDK.MatchString) {
		if from, install = "requirements.txt", "pip install -r requirements.txt"; !pythonSDK.MatchString(p.read(from)) {
			return nil
		}
		config.Project.Scripts = nil
	}
	r := recognised{kind: "mcp", install: []string{install}}
	for _, name := range slices.Sorted(maps.Keys(config.Project.Scripts)) {
		if m := pythonEntry.FindStringSubmatch(config.Project.Scripts[name]); m != nil && r.table == "" {
			r.table = list("command", "python3", "-c", fmt.Sprintf("from %s import %s; %s()", m[1], m[2], m[2]))
			if slices.ContainsFunc(p.files, func(f string) bool { return strings.HasPrefix(f, "src/") }) {
				r.table += list("env", "PYTHONPATH=src")
			}
		}
	}
	if files := p.with(pythonUses, ".py"); r.table == "" && len(files) > 0 {
		i := max(slices.IndexFunc(files, func(f string) bool { return slices.Contains([]string{"server.py", "main.py"}, filepath.Base(f)) }), 0)
		r.table = list("command", "python3", files[i])
	}
	if r.table == "" {
		return nil
	}
	r.what = fmt.Sprintf("an MCP server in Python (%s names an SDK)", from)
	return []recognised{r}
}

var (
	goSDK    = regexp.MustCompile(`(?m)^(?:require)?\s+(github\.com/(?:modelcontextprotocol/go-sdk|mark3labs/mcp-go|metoro-io/mcp-golang))\b`)
	goMain   = regexp.MustCompile(`(?m)^package main\b`)
	goModule = regexp.MustCompile(`(?m)^module (\S+)`)
	goTest   = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)
)

// goServer recognises MCP servers in Go.
func (p *project) goServer() (found []recognised) {
	mod := p.read("go.mod")
	sdk, module := goSDK.FindStringSubmatch(mod), goModule.FindStringSubmatch(mod)
	if sdk == nil || module == nil {
		return nil
	}
	var dirs []string
	for _, f := range p.with(goMain, ".go") {
		if dir := filepath.Dir(f); !strings.HasSuffix(f, "_test.go") && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		name, at := filepath.Base(filepath.Join(module[1], dir)), "./"+dir
		if dir == "." {
			at = "."
		}
		found = append(found, recognised{kind: "mcp", what: fmt.Sprintf("an MCP server in Go, %s (go.mod names %s)", name, sdk[1]), table: list("command", "./teasel-"+name),
			build: []string{"go build -o teasel-" + plain.Quote(name) + " " + plain.Quote(at)}})
	}
	return found
}

// goTests recognises fuzz tests in Go.
func (p *project) goTests() []recognised {
	if !p.has("go.mod") && !p.has("go.work") {
		return nil
	}
	var names []string
	for _, f := range p.with(goTest, ".go") {
		for _, m := range goTest.FindAllStringSubmatch(p.read(f), -1) {
			if strings.HasSuffix(f, "_test.go") && !strings.Contains(m[1], "_") {
				names = append(names, m[1])
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	what := fmt.Sprintf("fuzz tests of Go packages: %s", strings.Join(names[:min(len(names), 5)], ", "))
	if n := len(names) - 5; n > 0 {
		what += fmt.Sprintf(" and %d more", n)
	}
	return []recognised{{kind: "go", what: what, table: list("packages", "./...")}}
}

// models recognises descriptions of protocols.
func (p *project) models() (found []recognised) {
	for _, f := range p.with(regexp.MustCompile(`(?m)^teasel-model:`), ".yaml", ".yml") {
		if _, err := model.Load(filepath.Join(p.dir, filepath.FromSlash(f))); err != nil {
			continue
		}
		found = append(found, recognised{kind: "net", what: "a model of a network protocol, " + f, table: "model = " + strconv.Quote(f) + `
# A server that runs already is expected on loopback, at the port of the model. Better let teasel start one for each worker:
# connect = "127.0.0.1:{port}"
# command = ["./server", "--port", "{port}"]
`})
	}
	return found
}

var fuzzTarget = regexp.MustCompile(`fuzz_target!`)

// cargoFuzz recognises targets of cargo-fuzz.
func (p *project) cargoFuzz() (found []recognised) {
	var manifest struct {
		Bin []struct {
			Name string `toml:"name"`
			Path string `toml:"path"`
		} `toml:"bin"`
	}
	if toml.Unmarshal([]byte(p.read("fuzz/Cargo.toml")), &manifest) != nil {
		return nil
	}
	for _, bin := range manifest.Bin {
		if fuzzTarget.MatchString(p.read("fuzz/" + bin.Path)) {
			found = append(found, recognised{kind: "native", what: "a target of cargo-fuzz, " + bin.Name, table: list("command", "./teasel-"+bin.Name), install: clangInstall,
				build: []string{fmt.Sprintf("teasel cargo build --manifest-path fuzz/Cargo.toml --bin %s --target-dir teasel-target && cp \"$(find teasel-target -path '*/debug/%s' -type f | head -n 1)\" teasel-%s", bin.Name, bin.Name, bin.Name)}})
		}
	}
	return found
}

var (
	harness      = regexp.MustCompile(`\bLLVMFuzzerTestOneInput\s*\(`)
	hasMain      = regexp.MustCompile(`(?m)^\s*int\s+main\s*\(`)
	executable   = regexp.MustCompile(`(?s)add_executable\s*\(\s*(\S+)\s+([^)]*)\)`)
	fuzzOption   = regexp.MustCompile(`(?i)\boption\s*\(\s*(\w*fuzz\w*)\s+"[^"]*"\s*(?:off\s*)?\)`)
	clangInstall = []string{"sudo apt-get update && sudo apt-get install -y clang llvm libclang-rt-dev"}
)

// harnesses recognises harnesses of libFuzzer in C and C++.
func (p *project) harnesses() (found []recognised) {
	sources := []string{".c", ".cc", ".cpp", ".cxx"}
	all := p.with(harness, sources...)
	mains := p.with(hasMain, sources...)
	for _, f := range all {
		name, dir := strings.TrimSuffix(filepath.Base(f), filepath.Ext(f)), filepath.Dir(f)
		r := recognised{kind: "native", what: "a libFuzzer harness, " + f, install: clangInstall}
		if target, options := p.cmakeTarget(f); target != "" {
			r.table = list("command", "build-teasel/"+target)
			configure := `cmake -B build-teasel -DCMAKE_C_COMPILER="teasel;cc" -DCMAKE_CXX_COMPILER="teasel;c++" -DCMAKE_C_FLAGS=-fsanitize=address -DCMAKE_CXX_FLAGS=-fsanitize=address -DCMAKE_BUILD_TYPE=RelWithDebInfo`
			for _, o := range options {
				configure += " -D" + o + "=ON"
			}
			r.build = []string{configure + " .", "cmake --build build-teasel"}
			r.what = fmt.Sprintf("a libFuzzer harness of a CMake project, %s", target)
			found = append(found, r)
			continue
		}
		compiler, files := "cc", []string{f}
		for _, other := range p.files {
			if filepath.Dir(other) == dir && slices.Contains(sources, filepath.Ext(other)) && !slices.Contains(all, other) && !slices.Contains(mains, other) {
				files = append(files, other)
			}
		}
		if slices.ContainsFunc(files, func(f string) bool { return filepath.Ext(f) != ".c" }) {
			compiler = "c++"
		}
		for i := range files {
			files[i] = plain.Quote(files[i])
		}
		r.table = list("command", "./teasel-"+name)
		r.build = []string{fmt.Sprintf("teasel %s -g -O1 -fsanitize=fuzzer,address %s -o %s", compiler, strings.Join(files, " "), plain.Quote("teasel-"+name))}
		found = append(found, r)
	}
	return found
}

// cmakeTarget returns the executable of a CMake project that a source belongs to, below the directory that it is built in, and the options
// without which it may not be built; "": there is none. Directories have files of CMake's of their own.
func (p *project) cmakeTarget(file string) (target string, options []string) {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		source, err := filepath.Rel(dir, file)
		if err != nil {
			return "", nil
		}
		text := p.read(filepath.ToSlash(filepath.Join(dir, "CMakeLists.txt")))
		for _, m := range executable.FindAllStringSubmatch(text, -1) {
			for _, f := range strings.Fields(m[2]) {
				f = strings.TrimPrefix(strings.Trim(f, `"`), "${CMAKE_CURRENT_SOURCE_DIR}/")
				if f == filepath.ToSlash(source) {
					return filepath.ToSlash(filepath.Join(dir, strings.Trim(m[1], `"`))), p.cmakeOptions()
				}
			}
		}
		if dir == "." {
			return "", nil
		}
	}
}

// cmakeOptions returns the options of a CMake project that have to do with fuzzing and are off.
func (p *project) cmakeOptions() (names []string) {
	for _, f := range p.files {
		if filepath.Base(f) != "CMakeLists.txt" {
			continue
		}
		for _, m := range fuzzOption.FindAllStringSubmatch(p.read(f), -1) {
			if !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	return names
}
