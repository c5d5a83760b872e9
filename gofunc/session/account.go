package session

import "time"

// half is one of the two halves into which all time is divided.
type half uint8

const (
	even   half = iota // every campaign that wants to run gets as much of it as any other
	earned             // who finds more gets more of it
)

// account is what one campaign has used, and what it has found lately.
type account struct {
	even   time.Duration
	earned time.Duration // divided by what it had found when it was used
	recent float64       // testcases kept and findings; halved with each turn
}

// ledger says whose turn is next. What is used is added up for each half, and the half of which less was used comes next. Within
// a half it is stride scheduling (Waldspurger and Weihl, 1995), in the half that is earned with weights that change. A campaign
// that always wants to run has at least 1/(2n) of the time of n campaigns, less the longest turn, whatever the others find.
type ledger struct {
	used [2]time.Duration // of each half
}

// next returns which of the accounts, at least one, has the next turn, and in which half. Among equals it is the first.
func (l *ledger) next(waiting []*account) (index int, of half) {
	if l.used[earned] < l.used[even] {
		of = earned
	}
	for i, a := range waiting {
		if of == even && a.even < waiting[index].even || of == earned && a.earned < waiting[index].earned {
			index = i
		}
	}
	return index, of
}

// charge notes how long a turn took.
func (l *ledger) charge(a *account, of half, took time.Duration) {
	l.used[of] += took
	if of == even {
		a.even += took
	} else {
		a.earned += time.Duration(float64(took) / (1 + a.recent))
	}
	a.recent /= 2
}
