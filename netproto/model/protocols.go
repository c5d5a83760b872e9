package model

import (
	"embed"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

//go:embed protocols/*.yaml
var protocols embed.FS

const protocolFolder, protocolSuffix = "protocols", ".yaml"

// Protocols returns the names of the protocols whose models are built in, sorted.
func Protocols() []string {
	files, err := protocols.ReadDir(protocolFolder)
	if err != nil {
		panic(fmt.Sprintf("the models that are built in: %v", err)) // the folder is a part of the program
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), protocolSuffix))
	}
	slices.Sort(names)
	return names
}

// Protocol returns the text of the model that is built in for a protocol; false: there is none, or a file has that name, which goes first.
func Protocol(name string) ([]byte, bool) {
	if _, err := os.Stat(name); err == nil {
		return nil, false
	}
	if strings.ContainsAny(name, `/\.`) {
		return nil, false
	}
	text, err := protocols.ReadFile(path.Join(protocolFolder, name+protocolSuffix))
	return text, err == nil
}
