package mutate

const (
	maxSlab  = 512 // elements of a chunk that is kept after reset
	maxGuess = 32  // elements of the first chunk, however long the text is: it may be one long string. Each chunk is twice as large as the last
)

// slab allocates slices from a larger one, which it reuses when all of them are no longer used.
type slab[T any] struct {
	chunk []T
	used  int
}

// cut returns n elements. expected is about how many elements all calls together will need.
func (s *slab[T]) cut(n, expected int) []T {
	if n > len(s.chunk)-s.used {
		s.chunk, s.used = make([]T, max(n, min(max(2*len(s.chunk), min(expected, maxGuess)), maxSlab))), 0
	}
	from := s.used
	s.used += n
	return s.chunk[from:s.used:s.used]
}

// reset makes the memory of all slices available again.
func (s *slab[T]) reset() {
	if len(s.chunk) > maxSlab {
		s.chunk = nil
	}
	clear(s.chunk[:min(s.used, len(s.chunk))])
	s.used = 0
}
