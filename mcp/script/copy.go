package script

// keptLine is how much memory a line keeps that needs much less of it: there are hundreds of scripts in whose place
// others come, and each of them is long at some time.
const keptLine = 4 << 10

// resize returns line with n bytes, out of its own memory when that is enough and not too much.
func resize(line []byte, n int) []byte {
	if cap(line) < n || cap(line) > max(keptLine, 4*n) {
		return make([]byte, n)
	}
	return line[:n]
}

// Copy makes dst equal to src out of the memory dst already has.
func Copy(dst, src Script) Script {
	dst.Start, dst.Check = src.Start, src.Check
	n := len(src.Steps)
	dst.Steps = growSteps(dst.Steps, n)
	for i := range src.Steps {
		copyStep(&dst.Steps[i], &src.Steps[i])
	}
	idle := dst.Steps[n:cap(dst.Steps)]
	for i := range idle {
		if cap(idle[i].Line) > keptLine {
			idle[i].Line = nil
		}
	}
	return dst
}

// growSteps returns n steps, whose lines still hold the memory of older ones.
func growSteps(steps []Step, n int) []Step {
	if cap(steps) < n {
		more := make([]Step, n, n+4)
		copy(more, steps[:cap(steps)])
		return more
	}
	return steps[:n]
}

func copyStep(dst, src *Step) {
	line := resize(dst.Line, len(src.Line))
	copy(line, src.Line)
	*dst = *src
	dst.Line = line
}
