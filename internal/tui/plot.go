package tui

import "strings"

// dots are the bits of the dots of a braille character, by row and column.
var dots = [4][2]rune{{1, 8}, {2, 16}, {4, 32}, {64, 128}}

// plot draws values from 0 up as a line of braille dots, two by four in each cell, or of asterisks.
func plot(values []float64, w, h int, braille bool) []string {
	dx, dy := 1, 1
	if braille {
		dx, dy = 2, 4
	}
	highest := 0.0
	for _, v := range values {
		highest = max(highest, v)
	}
	cells := make([]rune, max(0, w*h))
	last := -1
	for x := 0; x < w*dx && h > 0 && highest > 0; x++ {
		y := h*dy - 1 - int(values[x*len(values)/(w*dx)]/highest*float64(h*dy-1)+.5)
		from, to := y, y
		if last >= 0 { // joined with the one before
			from, to = min(y, last), max(y, last)
		}
		last = y
		for ; from <= to; from++ {
			cells[from/dy*w+x/dx] |= dots[from%4][x%2]
		}
	}
	var lines []string
	for row := range h {
		var b strings.Builder
		for _, c := range cells[row*w : (row+1)*w] {
			switch {
			case c == 0:
				b.WriteByte(' ')
			case braille:
				b.WriteRune(0x2800 + c)
			default:
				b.WriteByte('*')
			}
		}
		lines = append(lines, b.String())
	}
	return lines
}
