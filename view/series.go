package view

import "strconv"

// MostPoints is how many points a series has at most.
const MostPoints = 2048

// series keeps points over any time. When it is full every second point goes, and from then on every second point is taken.
type series struct {
	points []Point
	stride int // of so many points one is taken
	left   int // until the next one is taken
}

// add adds a point, and reports whether points were taken out. Earlier points stay where they are in the slices that were handed out.
func (s *series) add(p Point) (thinned bool) {
	if s.left > 0 {
		s.left--
		return false
	}
	s.left = max(1, s.stride) - 1
	if len(s.points) < MostPoints {
		s.points = append(s.points, p)
		return false
	}
	half := make([]Point, 0, MostPoints)
	for i := 1; i < MostPoints; i += 2 {
		half = append(half, s.points[i])
	}
	s.points, s.stride = half, 2*max(1, s.stride) // the last one stays, and this one comes too soon after it
	return true
}

// fresh returns how many of the features have come in the last minute, of which the series has the beginning.
func fresh(points []Point, now *Figures) int {
	before := 0
	for i := len(points) - 1; i >= 0; i-- {
		if points[i].Elapsed <= now.Elapsed-60 {
			before = points[i].Features
			break
		}
	}
	return max(0, now.Features-before)
}

// MarshalJSON writes a point as a list of numbers: elapsed, executions, corpus, features, findings, memory.
func (p Point) MarshalJSON() ([]byte, error) {
	b := strconv.AppendFloat([]byte{'['}, p.Elapsed, 'f', 3, 64)
	for _, n := range [...]uint64{p.Executions, uint64(p.Corpus), uint64(p.Features), uint64(p.Findings), p.Memory} {
		b = strconv.AppendUint(append(b, ','), n, 10)
	}
	return append(b, ']'), nil
}
