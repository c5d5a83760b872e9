package conn

import (
	"bufio"
	"bytes"
)

// eventReader reads server-sent events, as the HTML standard defines them.
type eventReader struct{ r *bufio.Reader }

// next returns the name and the data of the next event that has any. With an error, which is io.EOF at the end, there may be an event
// that nothing ended.
func (e eventReader) next() (name string, data []byte, err error) {
	for some := false; ; {
		line, err := e.line(len(data))
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case string(field) == "data":
			if some {
				data = append(data, '\n')
			}
			data, some = append(data, value...), true
		case string(field) == "event":
			name = string(value)
		case len(line) == 0 && some:
			return name, data, err
		}
		if err != nil {
			return name, data, err
		}
	}
}

// line reads a line, newline included, of an event that has so many bytes.
func (e eventReader) line(size int) (line []byte, err error) {
	for {
		part, err := e.r.ReadSlice('\n')
		if line = append(line, part...); size+len(line) > maxLine {
			return line, errFlood
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}
