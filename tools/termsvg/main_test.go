package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// Text keeps its column and its colour, and what is special in XML is escaped.
func TestDraw(t *testing.T) {
	var out strings.Builder
	if err := draw(&out, strings.NewReader("ab \x1b[1;31m<x>\x1b[0m\x1b[7m&\x1b[m\n\x1b[38;5;196mé\x1b[38;2;1;2;3mz\n\x1b[m \u2841")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<text x="37.2" y="25" fill="#ff6b81" textLength="25.2" lengthAdjust="spacingAndGlyphs" xml:space="preserve" font-weight="bold">&lt;x&gt;</text>`,
		`fill="#13171b" textLength="8.4" lengthAdjust="spacingAndGlyphs" xml:space="preserve">&amp;<`, `y="42" fill="#ff0000"`, `fill="#010203"`, `<path fill="#d5dade" d="M21.6 47.2h2v2h-2zM21.6 60.0h2v2h-2z"/>`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	for d := xml.NewDecoder(strings.NewReader(out.String())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := draw(&out, strings.NewReader("")); err == nil {
		t.Error("nothing was drawn, without an error")
	}
}
