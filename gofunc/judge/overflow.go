package judge

// overflow judges a stack that was used up: the functions that call each other for ever are the fault, wherever among
// them it ended. frames are what is known if no goroutine has a function that calls itself.
func overflow(text string, frames []Frame) verdict {
	v := verdict{rule: ruleStack, message: "stack overflow"}
	most := 1
	for _, g := range Goroutines(text) {
		fs := userFrames(g.Frames)
		count := map[string]int{}
		deepest := 0
		for _, f := range fs {
			name := plainName(f.Function)
			count[name]++
			deepest = max(deepest, count[name])
		}
		if deepest <= most {
			continue
		}
		most, frames, v.subject = deepest, fs, ""
		for name, n := range count {
			if n > 1 && (v.subject == "" || name < v.subject) { // the same one whatever the order
				v.subject, v.group = name, name
			}
		}
	}
	if v.subject == "" {
		return named(ruleStack, v.message, frames)
	}
	v.frames = frames
	v.message += " in " + v.subject
	return v
}
