package main

import (
	"net/url"
	"strings"
)

// resource is one entry of resources/list.
type resource struct {
	uri, name, mime string
}

var resourceTable = []resource{
	{"app://title", "title", "text/plain"},
	{"app://settings", "settings", "application/json"},
	{"app://logo", "logo", "image/png"},
	{"file:///readme.md", "readme.md", "text/markdown"},
	{"file:///guide/intro.md", "intro.md", "text/markdown"},
	{"file:///guide/tools.md", "tools.md", "text/markdown"},
	{"file:///data/stock.csv", "stock.csv", "text/csv"},
}

// template is one entry of resources/templates/list.
type template struct {
	uri, name, variable string
	values              func() []string // what completion offers
}

var templateTable = []template{
	{"file:///{+path}", "file", "path", filePaths},
	{"item:///{sku}", "item", "sku", func() []string { return skus }},
}

var skus = []string{"bolt-m4", "bolt-m6", "discontinued", "nut-m4", "nut-m6", "washer"}

func filePaths() []string {
	return []string{"data/stock.csv", "guide/intro.md", "guide/tools.md", "readme.md"}
}

func (s *session) listResources(r *request) (raw, *failure) {
	list := make([]raw, len(resourceTable))
	for i, e := range resourceTable {
		list[i] = object("uri", e.uri, "name", e.name, "mimeType", e.mime)
	}
	return s.page(r, "resources", list)
}

func (s *session) listTemplates(r *request) (raw, *failure) {
	list := make([]raw, len(templateTable))
	for i, t := range templateTable {
		list[i] = object("uriTemplate", t.uri, "name", t.name)
	}
	return s.page(r, "resourceTemplates", list)
}

// contents returns what a resource holds, nil if there is none of that URI.
func (s *session) contents(uri string) raw {
	hold := func(mime, text string) raw { return object("uri", uri, "mimeType", mime, "text", text) }
	switch uri {
	case "app://title":
		return hold("text/plain", s.store.title)
	case "app://settings":
		if s.has("wrong-resource-uri") {
			return settingsOfAnother
		}
		return hold("application/json", `{"language":"en","units":"metric"}`)
	case "app://logo":
		return object("uri", uri, "mimeType", "image/png", "blob", onePixel)
	}
	if path, ok := strings.CutPrefix(uri, "file:///"); ok {
		if text, ok := s.file(path); ok {
			return hold(mimeOf(path), text)
		}
	}
	if sku, ok := strings.CutPrefix(uri, "item:///"); ok {
		for _, known := range skus {
			if sku == known {
				return hold("text/plain", "Article "+sku+".")
			}
		}
	}
	return nil
}

// file reads a file by a URI's path, which may be percent-encoded.
func (s *session) file(path string) (string, bool) {
	decoded, err := url.PathUnescape(path)
	if err != nil {
		return "", false
	}
	if text, ok := files[decoded]; ok {
		return text, true
	}
	if s.has("encoded-traversal") {
		return readEncoded(path, decoded)
	}
	return "", false
}

func mimeOf(path string) string {
	switch {
	case strings.HasSuffix(path, ".md"):
		return "text/markdown"
	case strings.HasSuffix(path, ".csv"):
		return "text/csv"
	}
	return "text/plain"
}

// named returns the contents of the resource that a request names.
func (s *session) named(r *request) (string, raw, *failure) {
	v := r.params.get("uri")
	if !v.isString() {
		f := invalid("Invalid params: uri must be a string")
		if s.has("internal-error-for-params") && r.method == "resources/read" {
			f.code = codeInternal
		}
		return "", nil, f
	}
	uri := v.str()
	if c := s.contents(uri); c != nil {
		return uri, c, nil
	}
	return "", nil, &failure{code: codeNoResource, message: "Resource not found", data: object("uri", uri)}
}

func (s *session) readResource(r *request) (raw, *failure) {
	_, contents, f := s.named(r)
	if f != nil {
		return nil, f
	}
	return object("contents", []raw{contents}), nil
}

func (s *session) subscribe(r *request) (raw, *failure) {
	uri, _, f := s.named(r)
	if f != nil {
		return nil, f
	}
	s.subscribed[uri] = true
	return raw("{}"), nil
}

func (s *session) unsubscribe(r *request) (raw, *failure) {
	uri, _, f := s.named(r)
	if f != nil {
		return nil, f
	}
	delete(s.subscribed, uri)
	return raw("{}"), nil
}

// updated tells the client of a change if it has subscribed to it.
func (s *session) updated(uri string) {
	if s.subscribed[uri] {
		s.notify("notifications/resources/updated", object("uri", uri))
	}
}
