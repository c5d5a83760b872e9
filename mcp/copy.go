package mcp

// resize returns line with n bytes, out of its own memory when that is enough.
func resize(line []byte, n int) []byte {
	if cap(line) < n {
		return make([]byte, n)
	}
	return line[:n]
}

// copyScript makes dst equal to src out of the memory dst already has.
func copyScript(dst, src Script) Script {
	dst.Start, dst.Check = src.Start, src.Check
	dst.Steps = growSteps(dst.Steps, len(src.Steps))
	for i := range src.Steps {
		copyStep(&dst.Steps[i], &src.Steps[i])
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
