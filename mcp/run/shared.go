package run

import "context"

// together runs scripts that may be in flight at the same time. When the server dies of one of them, the likely ones
// are tried by themselves; if it is none of those, all that were not answered are lost.
func (e *executor) together(ctx context.Context, lanes []*lane) error {
	for {
		if len(lanes) == 0 && (len(e.resumed) == 0 || e.aside != nil) {
			return nil
		}
		s, err := e.up(ctx)
		if err != nil {
			return err
		}
		resumed := e.resumed
		if e.resumed = nil; e.aside != nil { // they have to do with the server that waits
			e.resumed, resumed = resumed, nil
		}
		r := &round{server: s, todo: lanes, ready: resumed, limit: e.limit(nil), size: max(e.target.window()/depth, 1)}
		_, mark := s.Proc.Stderr(s.Proc.Written()) // what is in the pipe is older
		for _, l := range resumed {
			l.resumes = false
		}
		f, err := e.run(ctx, r)
		if err != nil {
			return e.discard(s, err)
		}
		stranded := e.receiveBack(f, resumed)
		if f == fateFine {
			for _, l := range lanes {
				e.retire(s, l)
			}
			if err := e.recheck(ctx, r, lanes); err != nil {
				return err
			}
			return e.attribute(ctx, r, lanes, mark)
		}
		if lanes, err = e.takeApart(ctx, r, f, stranded, lanes); err != nil {
			return err
		}
	}
}
