package triage

import (
	"regexp"
	"strings"
)

// The errors of PHP and Ruby that nobody has caught.
//
//	PHP Fatal error:  Uncaught TypeError: no stock in /srv/shop.php:12
//
//	/srv/shop.rb:3:in `take': no stock (StockError)
var (
	phpUncaught  = newFramePattern(`(?m)^.*(?:Fatal error: +)?Uncaught (?P<error>[\w\\]+)(?:: (?P<message>.*?))? in (?P<file>\S+\.php):(?P<line>\d+)$`)
	rubyUncaught = regexp.MustCompile(`(?m)^\S+\.rb:\d+:in .*?: (.*) \(([A-Z][\w:]*)\)$`)
)

// scripting adds the errors of PHP and Ruby.
func (x *finder) scripting() {
	if f, at := phpUncaught.lastWith("Uncaught ", x.text); at >= 0 {
		calls, _ := phpFrame.frames(x.text[at:])
		line, start := around(x.text, at)
		x.add(Crash{Report: Report{Fault: Exception, Message: line, Stack: append(Stack{f}, calls...)}, Language: PHP, Offset: start, Uncaught: true})
	}
	if !strings.Contains(x.text, ".rb:") {
		return
	}
	if all := rubyUncaught.FindAllStringIndex(x.text, -1); all != nil {
		at := all[len(all)-1][0]
		calls, _ := rubyFrame.frames(x.text[at:])
		x.add(Crash{Report: Report{Fault: Exception, Message: lineAt(x.text, at), Stack: calls}, Language: Ruby, Offset: at, Uncaught: true})
	}
}
