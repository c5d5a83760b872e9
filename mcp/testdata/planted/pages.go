package main

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// pages says how a list is cut: how many entries a page has, and which cursors lead to the later pages.
type pages struct {
	size    int
	entries int
}

func (s *session) newPages() map[string]pages {
	return map[string]pages{
		"tools":             {size: 10, entries: len(s.tools)},
		"prompts":           {size: 2, entries: len(promptTable)},
		"resources":         {size: 3, entries: len(resourceTable)},
		"resourceTemplates": {size: 10, entries: len(templateTable)},
	}
}

// cursor is opaque to the client. The list's name in it keeps it from being used on another list.
func cursor(list string, offset int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d", list, offset))
}

// offset returns where a cursor leads. Only cursors that were given out are valid.
func (p pages) offset(list, given string) (int, bool) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(given)
	if err != nil {
		return 0, false
	}
	name, number, _ := strings.Cut(string(text), ":")
	n, err := strconv.Atoi(number)
	ok := err == nil && name == list && n > 0 && n < p.entries && n%p.size == 0 && cursor(list, n) == given
	return n, ok
}

// page answers a list request with the page that its cursor names.
func (s *session) page(r *request, name string, list []raw) (raw, *failure) {
	p := s.pages[name]
	start := 0
	if given := r.params.get("cursor"); given != nil {
		offset, ok := p.offset(name, given.str())
		if !given.isString() || !ok {
			if !s.has("cursor-accepted") || name != "prompts" {
				return nil, invalid("Invalid params: invalid cursor")
			}
			offset = 0
		}
		start = offset
	}
	end := min(start+p.size, len(list))
	var next any
	if end < len(list) {
		next = cursor(name, end)
	}
	if s.has("page-repeats") && name == "resources" && start > 0 {
		start--
	}
	return object(name, list[start:end], "nextCursor", next), nil
}
