package session

import "strings"

// TemplateVariables returns the names of an RFC 6570 template's variables, operators and modifiers left out.
func TemplateVariables(template string) (names []string) {
	for {
		open := strings.IndexByte(template, '{')
		if open < 0 {
			return names
		}
		end := strings.IndexByte(template[open:], '}')
		if end < 0 {
			return names
		}
		inside := strings.TrimLeft(template[open+1:open+end], "+#./;?&=,!@|")
		for _, name := range strings.Split(inside, ",") {
			name, _, _ = strings.Cut(strings.TrimSuffix(name, "*"), ":")
			if name != "" {
				names = append(names, name)
			}
		}
		template = template[open+end+1:]
	}
}

// prefixes are what RFC 6570's operators put before their first variable, and between two.
var prefixes = map[byte][2]string{
	'+': {"", ","}, '#': {"#", ","}, '.': {".", "."}, '/': {"/", "/"}, ';': {";", ";"}, '?': {"?", "&"}, '&': {"&", "&"},
}

// ExpandTemplate puts values into a template. Nothing is percent-encoded: what a template ought not to contain is what
// servers are to be asked for.
func ExpandTemplate(template string, value func(name string) string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(template, '{')
		end := -1
		if open >= 0 {
			end = strings.IndexByte(template[open:], '}')
		}
		if end < 0 {
			b.WriteString(template)
			return b.String()
		}
		b.WriteString(template[:open])
		inside := template[open+1 : open+end]
		template = template[open+end+1:]
		before, between, named := "", ",", false
		if inside != "" {
			if p, ok := prefixes[inside[0]]; ok {
				before, between, named = p[0], p[1], strings.IndexByte(";?&", inside[0]) >= 0
				inside = inside[1:]
			}
		}
		for i, name := range strings.Split(inside, ",") {
			name, _, _ = strings.Cut(strings.TrimSuffix(name, "*"), ":")
			if i == 0 {
				b.WriteString(before)
			} else {
				b.WriteString(between)
			}
			if named {
				b.WriteString(name + "=")
			}
			b.WriteString(value(name))
		}
	}
}
