package observe

import "bytes"

// What stands in the first line of a report that something has gone wrong. It need not be exact: it only decides
// whether to look closer.
var troubleWords = [][]byte{
	[]byte("panic"), []byte("Traceback"), []byte("goroutine "), []byte("rror"), []byte("xception"), []byte("ERROR"),
	[]byte("ssert"), []byte("anitizer"), []byte("DATA RACE"), []byte("atal"), []byte("FATAL"), []byte("nhandled"),
	[]byte("out of memory"), []byte("heap"), []byte("overflow"), []byte("SIG"), []byte("core dumped"), []byte("secret"),
}

// TroubleLine returns the first line of a text that looks like trouble; nil: there is none.
func TroubleLine(text []byte) []byte {
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		for _, w := range troubleWords {
			if bytes.Contains(line, w) {
				return line[:min(len(line), 64)]
			}
		}
		text = rest
	}
	return nil
}
