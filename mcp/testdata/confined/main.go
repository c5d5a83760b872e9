// Command confined is an MCP server that serves the files of one directory, in one of the ways that its first argument names; the second is
// the directory. Without arguments it lists the ways. Those that begin with "clean" are right.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var modes = []struct{ name, about string }{
	{"prefix", "a path is compared by its beginning: a folder beside, whose name begins like that of the directory, can be read"},
	{"prefix-list", "the same, where folders are listed and nothing is read"},
	{"parent", "the folder above is listed"},
	{"linked", "links are followed without a look at where they lead"},
	{"cursor", "the time that a cursor takes doubles with each of its parts"},
	{"template", "the same of what stands for an exploded variable in a URI template"},
	{"clean", "none of these"},
	{"clean-makes", "it makes each directory within its own that it is asked for, and so one of any name that lies beside it"},
	{"clean-marks", "it lists what lies beside the directory, as tools do that know the repository, of which the directory is a part"},
}

type object = map[string]any

type server struct{ mode, root string }

func main() {
	if len(os.Args) < 3 {
		for _, m := range modes {
			fmt.Printf("%s\t%s\n", m.name, m.about)
		}
		return
	}
	root, err := filepath.EvalSymlinks(os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := &server{os.Args[1], root}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name, URI, Cursor string
				Arguments         struct{ Path string }
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil || m.Method == "" {
			continue
		}
		reply := object{"jsonrpc": "2.0", "id": m.ID}
		switch m.Method {
		case "initialize":
			reply["result"] = object{"protocolVersion": "2025-11-25", "capabilities": object{"tools": object{}, "resources": object{}},
				"serverInfo": object{"name": "confined", "version": "1"}}
		case "ping":
			reply["result"] = object{}
		case "tools/list":
			schema := object{"type": "object", "properties": object{"path": object{"type": "string"}}, "required": []string{"path"}}
			tools := []object{{"name": "list_directory", "annotations": object{"readOnlyHint": true}, "inputSchema": schema}}
			if s.mode != "prefix-list" {
				tools = append(tools, object{"name": "read_file", "annotations": object{"readOnlyHint": true}, "inputSchema": schema})
			}
			reply["result"] = object{"tools": tools}
		case "resources/list":
			if s.mode == "cursor" {
				exploded(m.Params.Cursor)
			}
			reply["result"] = object{"resources": []object{}}
		case "resources/templates/list":
			reply["result"] = object{"resourceTemplates": []object{{"name": "item", "uriTemplate": "shop://items{?tags*}"}}}
		case "resources/read":
			if rest, ok := strings.CutPrefix(m.Params.URI, "shop://items?tags="); ok && s.mode == "template" {
				exploded(rest)
			}
			reply["error"] = object{"code": -32002, "message": "no such resource"}
		case "tools/call":
			text, err := s.call(m.Params.Name, m.Params.Arguments.Path)
			if err != nil {
				text = "refused"
			}
			reply["result"] = object{"content": []object{{"type": "text", "text": text}}, "isError": err != nil}
		default:
			reply["error"] = object{"code": -32601, "message": "method not found"}
		}
		b, _ := json.Marshal(reply)
		os.Stdout.Write(append(b, '\n'))
	}
}

func (s *server) call(name, path string) (string, error) {
	if s.mode == "clean-marks" && name == "list_directory" {
		return listed(filepath.Dir(s.root))
	}
	if s.mode == "clean-makes" {
		s.makeWithin(path)
	}
	path, err := s.allowed(path)
	if err != nil {
		return "", err
	}
	if name == "list_directory" {
		return listed(path)
	}
	b, err := os.ReadFile(path)
	return string(b), err
}

// makeWithin makes a directory for the path as it stands below the directory that is served, where no step leads up.
func (s *server) makeWithin(path string) {
	if rel := strings.TrimLeft(path, "/"); filepath.IsLocal(rel) && !strings.Contains(rel, "..") {
		_ = os.MkdirAll(filepath.Join(s.root, rel), 0o755)
	}
}

func listed(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	var names strings.Builder
	for _, e := range entries {
		fmt.Fprintln(&names, e.Name())
	}
	return names.String(), err
}

// allowed returns the file that a path leads to, if the server may give it away.
func (s *server) allowed(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.root, path)
	}
	path = filepath.Clean(path)
	switch {
	case s.mode == "parent" && path == filepath.Dir(s.root):
		return path, nil
	case s.mode == "linked" && strings.HasPrefix(path, s.root+"/"):
		return path, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(s.mode, "prefix") && strings.HasPrefix(real, s.root) || real == s.root || strings.HasPrefix(real, s.root+"/") {
		return real, nil
	}
	return "", os.ErrPermission
}

// exploded matches a text as a program that backtracks does with ^([^&]+(,[^&]+)*)*$.
func exploded(text string) bool {
	if text == "" {
		return true
	}
	for n := 1; n <= len(text) && text[n-1] != '&'; n++ {
		if (n == len(text) || text[n] == ',') && exploded(strings.TrimPrefix(text[n:], ",")) {
			return true
		}
	}
	return false
}
