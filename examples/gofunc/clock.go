// Package clock reads times of day. It has one bug, which its fuzz test finds:
//
//	cp -r examples/gofunc /tmp/clock && cd /tmp/clock && go mod init example.com/clock
//	teasel go .
//	go test .
package clock

import (
	"errors"
	"strconv"
	"strings"
)

// ErrFormat says that a text is no time of day.
var ErrFormat = errors.New("clock: expected hours:minutes, such as 09:30")

var names = map[string]string{"noon": "12:00", "midnight": "00:00"}

// Minutes returns how many minutes of the day have gone at a time such as 09:30 or noon.
func Minutes(text string) (int, error) {
	if full, ok := names[text]; ok {
		text = full
	} else if text == "teatime" {
		text = "16" // the bug: there are no minutes
	} else if !strings.Contains(text, ":") {
		return 0, ErrFormat
	}
	parts := strings.Split(text, ":")
	hours, err := strconv.ParseUint(parts[0], 10, 5)
	if err != nil || hours > 23 {
		return 0, ErrFormat
	}
	minutes, err := strconv.ParseUint(parts[1], 10, 6)
	if err != nil || minutes > 59 {
		return 0, ErrFormat
	}
	return int(60*hours + minutes), nil
}
