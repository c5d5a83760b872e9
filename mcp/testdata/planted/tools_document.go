package main

import (
	"slices"
	"strconv"
	"strings"
)

func documentTools() []tool {
	const handle = `"handle":{"type":"string","description":"a handle that open_document returned","maxLength":64}`
	return []tool{
		{
			name: "open_document", title: "Open document", hints: addsOnly,
			description: "Opens a new document and returns its handle. The " + strconv.Itoa(documentLimit) +
				" documents opened last are kept, older ones are closed.",
			input:  `{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":100}},"required":["name"],"additionalProperties":false}`,
			output: `{"type":"object","properties":{"handle":{"type":"string"}},"required":["handle"],"additionalProperties":false}`,
			call:   (*session).openDocument,
		},
		{
			name: "append_document", title: "Append to document", hints: addsOnly,
			description: "Appends a text to an open document.",
			input: `{"type":"object","properties":{` + handle + `,"text":{"type":"string","maxLength":1000}},` +
				`"required":["handle","text"],"additionalProperties":false}`,
			call: (*session).appendDocument,
		},
		{
			name: "close_document", title: "Close document", hints: addsOnly,
			description: "Closes an open document.",
			input:       `{"type":"object","properties":{` + handle + `},"required":["handle"],"additionalProperties":false}`,
			call:        (*session).closeDocument,
		},
		{
			name: "read_file", title: "Read file", hints: readsOnly,
			description: "Reads one of the warehouse's files, by its path below the root.",
			input: `{"type":"object","properties":{"path":{"type":"string","maxLength":1000,"examples":["readme.md","guide/intro.md"]}},` +
				`"required":["path"],"additionalProperties":false}`,
			call: (*session).readFile,
		},
		{
			name: "read_guide", title: "Read guide", hints: readsOnly,
			description: "Reads one of the guides, by its name.",
			input: `{"type":"object","properties":{"name":{"type":"string","maxLength":1000,"examples":["intro","tools"]}},` +
				`"required":["name"],"additionalProperties":false}`,
			call: (*session).readGuide,
		},
		{
			name: "list_folder", title: "List folder", hints: readsOnly,
			description: "Lists the files of one of the warehouse's folders, by its path below the root.",
			input: `{"type":"object","properties":{"folder":{"type":"string","maxLength":1000,"examples":["guide","data"]}},` +
				`"required":["folder"],"additionalProperties":false}`,
			call: (*session).listFolder,
		},
	}
}

func (s *session) openDocument(a args) answer {
	return structure(object("handle", s.store.open(a.str("name"))))
}

func (s *session) appendDocument(a args) answer {
	handle := a.str("handle")
	if s.has("use-after-close") {
		s.store.appendAfterClose(handle)
	}
	d := s.store.documents[handle]
	if d == nil || d.closed {
		return refuse("There is no open document with the handle " + brief(handle) + ".")
	}
	d.size = min(d.size+length(a.str("text")), sizeLimit)
	return say("The document " + brief(d.name) + " has " + plural(d.size, "character") + ".")
}

func (s *session) closeDocument(a args) answer {
	handle := a.str("handle")
	if s.has("double-close") {
		s.store.closeTwice(handle)
	}
	d := s.store.documents[handle]
	if d == nil || d.closed {
		return refuse("There is no open document with the handle " + brief(handle) + ".")
	}
	d.closed = true
	return say("The document " + brief(d.name) + " is closed.")
}

func (s *session) readFile(a args) answer {
	path := a.str("path")
	if text, ok := s.textOf(path, "path-traversal"); ok {
		return say(text)
	}
	return refuse("There is no file " + brief(path) + ".")
}

func (s *session) readGuide(a args) answer {
	name := a.str("name")
	if text, ok := s.textOf("guide/"+name+".md", "appended-traversal"); ok {
		return say(text)
	}
	return refuse("There is no guide " + brief(name) + ".")
}

// textOf is what is in a file of the warehouse or, with the bug, in any that the path leads to.
func (s *session) textOf(path, bug string) (text string, ok bool) {
	if text, ok = files[path]; !ok && s.has(bug) {
		return readBelowRoot(path)
	}
	return text, ok
}

func (s *session) listFolder(a args) answer {
	folder := a.str("folder")
	var names []string
	for path := range files {
		if dir, name, ok := strings.Cut(path, "/"); ok && dir == folder {
			names = append(names, name)
		}
	}
	if len(names) == 0 && s.has("listing-traversal") {
		names = namesBelowRoot(folder)
	}
	if len(names) == 0 {
		return refuse("There is no folder " + brief(folder) + ".")
	}
	slices.Sort(names)
	return say(strings.Join(names, "\n"))
}
