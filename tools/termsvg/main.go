// Termsvg draws what a terminal shows as SVG: text with the escape sequences for colours and styles, such as tmux capture-pane -e -p writes.
package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

func main() {
	if err := draw(os.Stdout, os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "termsvg:", err)
		os.Exit(1)
	}
}

// Of a cell, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 17
	margin     = 12
)

// colours are the sixteen of a terminal.
var colours = [16]string{"#1a2026", "#ff6b81", "#6fcf87", "#f0b64f", "#6bb6f5", "#d69cf0", "#6fd0cf", "#d5dade",
	"#7b8790", "#ff8a9c", "#8fe0a4", "#ffd27f", "#8fcaff", "#e5b8fa", "#93e4e3", "#ffffff"}

const (
	background = "#13171b"
	foreground = "#d5dade"
)

// style is how a run of text looks.
type style struct {
	fore, back                     string // "": as the terminal's
	bold, faint, underline, revert bool
}

// run is text of one style, in cells.
type run struct {
	style
	column, cells int
	text          string
	alphabet      alphabet
}

// alphabet tells apart what fonts make of different widths, so that it is drawn piece by piece.
type alphabet uint8

const (
	ascii alphabet = iota
	other
	braille // of which the dots are drawn: not all fonts have them
)

func alphabetOf(c rune) alphabet {
	switch {
	case c < utf8.RuneSelf:
		return ascii
	case c >= 0x2800 && c <= 0x28ff:
		return braille
	}
	return other
}

func draw(w io.Writer, r io.Reader) error {
	var lines [][]run
	width := 0
	now := style{}
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		runs, column := []run{}, 0
		rest := scan.Text()
		for rest != "" {
			if strings.HasPrefix(rest, "\x1b[") {
				end := strings.IndexFunc(rest[2:], func(c rune) bool { return c >= 0x40 && c <= 0x7e })
				if end < 0 {
					break
				}
				if rest[2+end] == 'm' {
					now.set(rest[2 : 2+end])
				}
				rest = rest[3+end:]
				continue
			}
			c, n := utf8.DecodeRuneInString(rest)
			rest = rest[n:]
			if c < ' ' {
				continue
			}
			if last := len(runs) - 1; last < 0 || runs[last].style != now || runs[last].alphabet != alphabetOf(c) {
				runs = append(runs, run{style: now, column: column, alphabet: alphabetOf(c)})
			}
			at := &runs[len(runs)-1]
			at.text += string(c)
			at.cells++
			column++
		}
		width = max(width, column)
		lines = append(lines, runs)
	}
	if err := scan.Err(); err != nil {
		return err
	}
	if width == 0 {
		return fmt.Errorf("there is nothing to draw")
	}
	out := bufio.NewWriter(w)
	x, y := float64(width)*cellWidth+2*margin, len(lines)*cellHeight+2*margin
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" font-family="'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="14">`+"\n", x, y, x, y)
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	for i, runs := range lines {
		for _, g := range runs {
			g.draw(out, i)
		}
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

func (g *run) draw(w io.Writer, line int) {
	fore, back := g.fore, g.back
	if g.revert {
		fore, back = back, fore
		if fore == "" {
			fore = background
		}
		if back == "" {
			back = foreground
		}
	}
	x, y := margin+float64(g.column)*cellWidth, margin+line*cellHeight
	if back != "" {
		fmt.Fprintf(w, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", x, y, float64(g.cells)*cellWidth, cellHeight, back)
	}
	if strings.TrimSpace(g.text) == "" {
		return
	}
	if fore == "" {
		fore = foreground
	}
	if g.alphabet == braille {
		fmt.Fprintf(w, `<path fill="%s" d="%s"/>`+"\n", fore, dots(x, float64(y), g.text))
		return
	}
	attributes := ""
	if g.bold {
		attributes += ` font-weight="bold"`
	}
	if g.faint {
		attributes += ` opacity="0.65"`
	}
	if g.underline {
		attributes += ` text-decoration="underline"`
	}
	// The length is given so that the columns fit with any font.
	fmt.Fprintf(w, `<text x="%.1f" y="%d" fill="%s" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve"%s>%s</text>`+"\n",
		x, y+13, fore, float64(g.cells)*cellWidth, attributes, html.EscapeString(g.text))
}

// dots returns a path of the dots of braille characters: from the lowest bit on, three of the left column, three of the right one, and one
// below each.
func dots(x, y float64, text string) string {
	const size = 2.0
	at := [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}
	var path strings.Builder
	for _, c := range text {
		for bit, p := range at {
			if c&(1<<bit) != 0 {
				fmt.Fprintf(&path, "M%.1f %.1fh%gv%gh-%gz", x+1.2+float64(p[0])*cellWidth/2, y+1.2+float64(p[1])*cellHeight/4, size, size, size)
			}
		}
		x += cellWidth
	}
	return path.String()
}

// set applies the parameters of a sequence that ends with m.
func (s *style) set(text string) {
	var ps []int
	for p := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ';' || c == ':' }) {
		n, err := strconv.Atoi(p)
		if err != nil {
			return
		}
		ps = append(ps, n)
	}
	if len(ps) == 0 {
		*s = style{}
	}
	for len(ps) > 0 {
		p, used := ps[0], 1
		switch {
		case p == 0:
			*s = style{}
		case p == 1:
			s.bold = true
		case p == 2:
			s.faint = true
		case p == 4:
			s.underline = true
		case p == 7:
			s.revert = true
		case p == 22:
			s.bold, s.faint = false, false
		case p == 24:
			s.underline = false
		case p == 27:
			s.revert = false
		case p >= 30 && p <= 37:
			s.fore = colours[p-30]
		case p >= 90 && p <= 97:
			s.fore = colours[p-90+8]
		case p >= 40 && p <= 47:
			s.back = colours[p-40]
		case p >= 100 && p <= 107:
			s.back = colours[p-100+8]
		case p == 39:
			s.fore = ""
		case p == 49:
			s.back = ""
		case p == 38 || p == 48:
			var c string
			c, used = extended(ps)
			if p == 38 {
				s.fore = c
			} else {
				s.back = c
			}
		}
		ps = ps[min(used, len(ps)):]
	}
}

// extended returns a colour of 256 or of 16 million, and how many parameters it took.
func extended(ps []int) (colour string, used int) {
	switch {
	case len(ps) >= 3 && ps[1] == 5:
		return palette(ps[2]), 3
	case len(ps) >= 5 && ps[1] == 2:
		return fmt.Sprintf("#%02x%02x%02x", ps[2]&255, ps[3]&255, ps[4]&255), 5
	}
	return "", len(ps)
}

func palette(n int) string {
	switch {
	case n >= 0 && n < 16:
		return colours[n]
	case n >= 16 && n < 232:
		level := func(i int) int {
			if i == 0 {
				return 0
			}
			return 55 + 40*i
		}
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
	}
	grey := (8 + 10*(n-232)) & 255
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}
