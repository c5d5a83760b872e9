package main

import (
	"os"
	"path/filepath"
	"strings"
)

// fileModes are servers of the files of a directory, which the second argument names. Only the last is orderly: the others
// are its faulty twins, for a test of their own.
func fileModes() []mode {
	files := func(name, about string, inside func(root, path string) bool) mode {
		return mode{name, about, func(s *server) {
			if len(os.Args) < 3 {
				os.Args = append(os.Args, ".")
			}
			root, _ := filepath.Abs(os.Args[2])
			s.tools = []tool{textTool("read_file", "Reads a file of the directory that is served.", func(a func(string) string) (string, bool) {
				path := strings.TrimPrefix(a("path"), "file://")
				if !filepath.IsAbs(path) {
					path = filepath.Join(root, path)
				}
				path = filepath.Clean(path)
				data, err := os.ReadFile(path)
				if !inside(root, path) || err != nil {
					return "There is no such file.", true
				}
				return string(data[:min(len(data), 1000)]), false
			}, "path")}
		}}
	}
	below := func(root, path string) bool { return path == root || strings.HasPrefix(path, root+"/") }
	return []mode{
		files("files-prefix", "paths are compared by their beginnings", func(root, path string) bool { return strings.HasPrefix(path, root) }),
		files("files-link", "links are followed", below),
		files("files-resolved", "a file server resolves paths before it compares them", func(root, path string) bool {
			real, err := filepath.EvalSymlinks(path)
			actual, e := filepath.EvalSymlinks(root)
			return err == nil && e == nil && below(actual, real)
		}),
	}
}
