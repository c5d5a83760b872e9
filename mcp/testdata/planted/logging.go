package main

import "slices"

// levels are the log levels, the least severe first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func (s *session) setLevel(r *request) (raw, *failure) {
	level := r.params.get("level")
	i := slices.Index(levels, level.str())
	if !level.isString() || i < 0 {
		if level.isString() && s.has("log-level-unchecked") {
			return raw("{}"), nil
		}
		return nil, invalid("Invalid params: level must be one of the eight log levels")
	}
	s.minLevel = i
	return raw("{}"), nil
}

// log sends a log message if the client has asked for messages of that level.
func (s *session) log(level, logger, data string) {
	if s.minLevel < 0 || slices.Index(levels, level) < s.minLevel {
		return
	}
	s.notify("notifications/message", object("level", level, "logger", logger, "data", data))
}
