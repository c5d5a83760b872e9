package mutate

const (
	maxSlab  = 512 // elements: bounds the memory that is kept for later
	maxGuess = 32  // of the first chunk, however long a text is: it may be one long string, and each chunk doubles the last
)

// slab cuts slices out of a bigger one, which it keeps for when all of them are done with.
type slab[T any] struct {
	chunk []T
	used  int
}

// cut returns n elements. The first chunk is made for about so many as are expected.
func (s *slab[T]) cut(n, expected int) []T {
	if n > len(s.chunk)-s.used {
		s.chunk, s.used = make([]T, max(n, min(max(2*len(s.chunk), min(expected, maxGuess)), maxSlab))), 0
	}
	from := s.used
	s.used += n
	return s.chunk[from:s.used:s.used]
}

// reset takes back all that was cut.
func (s *slab[T]) reset() {
	if len(s.chunk) > maxSlab {
		s.chunk = nil
	}
	clear(s.chunk[:min(s.used, len(s.chunk))])
	s.used = 0
}
