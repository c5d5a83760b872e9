package netproto

import (
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// scriptMessages writes messages for a script: values that responses bring are taken from the responses where that is simple,
// otherwise they are those of one run.
type scriptMessages struct {
	taken map[string]bool // captures that the script takes from responses
	sent  []judge.Turn    // what was sent in one run, in order
	fixed bool            // some message has values of one run
	late  bool            // some message has values that the script takes
}

// patterns writes what finds the captured values in responses.
func (w *scriptMessages) patterns(m *model.Model) string {
	w.taken = map[string]bool{}
	var b strings.Builder
	b.WriteString("# Which responses bring values that later messages carry: what they match, whether that is all of them, the values.\nRESPONSES = [\n")
	if m != nil {
		for _, r := range m.Responses {
			p, ok := r.Pattern()
			if !ok {
				continue
			}
			fmt.Fprintf(&b, "    (rb'%s', %s, [", p.Regexp, pythonBool(p.Whole))
			for _, v := range p.Values {
				w.taken[v.Name] = true
				fmt.Fprintf(&b, "(%s, %s), ", pythonText(v.Name), pythonText(v.Form))
			}
			b.WriteString("]),\n")
		}
	}
	b.WriteString("]\n")
	if len(w.taken) == 0 {
		return "RESPONSES = []\n"
	}
	return b.String()
}

// message writes a message whose bytes are data unless something better is known.
func (w *scriptMessages) message(kind *model.Message, m *dialogue.Message, data []byte) string {
	turn, known := w.next(m.Name)
	if kind == nil || !kind.Late() || len(m.Nodes) == 0 {
		return pythonBytes(data)
	}
	if slots, simple := m.Slots(); simple && w.takes(slots) {
		if len(slots) == 0 {
			return pythonBytes(data)
		}
		w.late = true
		var b strings.Builder
		fmt.Fprintf(&b, "Late(%s, [", pythonBytes(m.Data))
		for _, s := range slots {
			fmt.Fprintf(&b, "(%s, %d, %d, %s), ", pythonText(s.Name), s.Start, s.End, pythonText(s.Form))
		}
		b.WriteString("])")
		return b.String()
	}
	w.fixed = true
	if known {
		data = turn.Sent
	}
	return pythonBytes(data)
}

func (w *scriptMessages) takes(slots []model.Slot) bool {
	for _, s := range slots {
		if !w.taken[s.Name] {
			return false
		}
	}
	return true
}

// next returns what was sent in place of the next message of that name.
func (w *scriptMessages) next(name string) (judge.Turn, bool) {
	for i, t := range w.sent {
		if t.Name == name {
			w.sent = w.sent[i+1:]
			return t, t.Sent != nil
		}
	}
	return judge.Turn{}, false
}

// scriptCaptures is what a script needs to take values from responses. It stands before the messages.
const scriptCaptures = `
captured = {}


class Late(bytes):
    """A message with values that responses bring: of each its name, where it stands, and how it is written."""

    def __new__(cls, data, values):
        self = super().__new__(cls, data)
        self.values = values
        return self


def take(data):
    while data:
        for pattern, whole, values in RESPONSES:
            found = re.match(pattern, data, re.DOTALL)
            if found:
                break
        else:
            return
        for i, (name, form) in enumerate(values):
            captured[name] = read(found.group(i + 1), form)
        if not whole or not found.end():
            return
        data = data[found.end():]


def read(data, form):
    if form == "bytes":
        return data
    if form.isdigit():
        return int(data, int(form))
    return int.from_bytes(data, form.split()[0], signed="signed" in form)


def await_values(data, more):
    """Reads what is still to come before a message that carries values of it. What does not come is not waited for again."""
    for name, _, _, _ in getattr(data, "values", []):
        for _ in range(10):
            if name in captured:
                break
            more()
        captured.setdefault(name, None)


def current(data):
    for name, start, end, form in reversed(getattr(data, "values", [])):
        if captured.get(name) is not None:
            data = data[:start] + write(captured[name], form, end - start) + data[end:]
    return data


def write(value, form, size):
    if form == "bytes" or form.isdigit():
        if isinstance(value, bytes):
            return value
        return {"8": "%o", "16": "%x"}.get(form, "%d").__mod__(value).encode()
    if isinstance(value, bytes):
        value = int(value) if value.isdigit() else int.from_bytes(value, "big")
    return (value % 256 ** size).to_bytes(size, form.split()[0])


`
