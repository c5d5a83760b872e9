// Package web shows the state of a campaign as a page: served while the campaign runs or afterwards, or as one file.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"

	"github.com/teaselfuzz/teasel/view"
)

// uPlot draws the charts. Version 1.6.32, from npm; its licence, MIT, is beside it.
//
//go:embed assets page.html
var files embed.FS

// pageData is what the template of the page takes.
type pageData struct {
	Static     bool
	CSS        template.CSS
	JS         template.JS
	Data       template.JS
	ScriptHash string
	Scripts    []string // of a page that is served
}

func parsePage() (*template.Template, error) { return template.ParseFS(files, "page.html") }

// scripts are the files of the page's script, in the order in which they are loaded: what is at the top of one uses those before it.
func scripts() []string {
	return []string{"uPlot.iife.min.js", "base.js", "charts.js", "figures.js", "panels.js", "findings.js", "corpus.js", "page.js"}
}

// assets returns files below assets one after the other.
func assets(names ...string) ([]byte, error) {
	var all []byte
	for _, n := range names {
		text, err := files.ReadFile("assets/" + n)
		if err != nil {
			return nil, err
		}
		all = append(append(all, text...), '\n')
	}
	return all, nil
}

// WriteReport writes the page as one file that has everything in it and makes no request. Its policy allows the page's own script, by its
// hash, and no other.
func WriteReport(w io.Writer, s view.State) error {
	page, err := parsePage()
	if err != nil {
		return err
	}
	js, err := assets(scripts()...)
	if err != nil {
		return err
	}
	css, err := assets("uPlot.min.css", "app.css")
	if err != nil {
		return err
	}
	// Marshal escapes <, > and &: no text can end the element that the state is in.
	data, err := json.Marshal(s.Since("", 0))
	if err != nil {
		return fmt.Errorf("encoding the state: %w", err)
	}
	sum := sha256.Sum256(js)
	return page.Execute(w, pageData{Static: true, CSS: template.CSS(css), JS: template.JS(js), Data: template.JS(data),
		ScriptHash: "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"})
}
