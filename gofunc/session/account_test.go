package session

import (
	"context"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// campaign is one that always wants to run.
type campaign struct {
	account
	turn  time.Duration // of each of its turns
	finds float64       // testcases in each turn
	took  time.Duration
}

// share deals turns until so much time has passed, and notes who had how much.
func share(campaigns []*campaign, total time.Duration) {
	var l ledger
	waiting := make([]*account, len(campaigns))
	for i, c := range campaigns {
		waiting[i] = &c.account
	}
	for now := time.Duration(0); now < total; {
		i, of := l.next(waiting)
		c := campaigns[i]
		c.recent += c.finds
		l.charge(&c.account, of, c.turn)
		c.took += c.turn
		now += c.turn
	}
}

// Each campaign has half of an equal share, less a turn, whatever the others find and however long its own turns are. Those that
// find most have most.
func TestLedger(t *testing.T) {
	const slice, total = time.Second / 10, time.Minute
	for name, campaigns := range map[string][]*campaign{
		"nothing kept":    {{turn: slice}, {turn: slice, finds: 100}, {turn: slice, finds: 100}, {turn: slice, finds: 10}},
		"a slow start":    {{turn: slice, account: account{even: 2 * time.Second, earned: 2 * time.Second}}, {turn: slice, finds: 100}, {turn: slice, finds: 100}},
		"hangs":           {{turn: 10 * slice}, {turn: slice, finds: 100}, {turn: slice, finds: 100}},
		"all the same":    {{turn: slice, finds: 1}, {turn: slice, finds: 1}, {turn: slice, finds: 1}},
		"none finds much": {{turn: slice}, {turn: slice}, {turn: slice, finds: 1}},
		"many":            {{turn: slice}, {turn: slice}, {turn: slice}, {turn: slice}, {turn: slice}, {turn: slice}, {turn: slice}, {turn: slice}, {turn: slice, finds: 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			before := campaigns[0].even
			share(campaigns, total)
			for i, c := range campaigns {
				least := total/time.Duration(2*len(campaigns)) - 10*slice - before
				if c.took < least {
					t.Errorf("campaign %d of %d had %v of %v, want %v at least", i, len(campaigns), c.took, total, least)
				}
				if last := campaigns[len(campaigns)-1]; c.finds < last.finds && c.took > last.took {
					t.Errorf("campaign %d, which finds less, had %v, and the last %v", i, c.took, last.took)
				}
			}
		})
	}
}

// The half that is earned goes to those who find: ten times as much is more than twice the time of one that finds nothing.
func TestLedgerRewards(t *testing.T) {
	idle, busy := &campaign{turn: time.Second}, &campaign{turn: time.Second, finds: 10}
	share([]*campaign{idle, busy}, time.Hour)
	if busy.took < 2*idle.took {
		t.Errorf("%v for the campaign that finds, and %v for the other", busy.took, idle.took)
	}
	again := &campaign{turn: time.Second} // what was found long ago counts no more
	again.recent = 1000
	share([]*campaign{again, idle}, time.Hour)
	if again.took > idle.took+10*time.Minute {
		t.Errorf("%v for a campaign that has found long ago", again.took)
	}
}

// starting is an executor whose first process takes an hour to start.
type starting struct{ full }

func (s starting) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return s, nil }
func (s starting) Exec(context.Context, []byte, *teasel.Observation) error            { return nil }
func (s starting) Close() error                                                       { return nil }
func (s starting) Starting() time.Duration                                            { return time.Hour }

// The first start of an executor's process is not charged.
func TestStartIsNotCharged(t *testing.T) {
	share := NewTurns(1, 0).Share()
	ex, err := Target{Target: starting{}, Share: share}.Open(t.Context(), teasel.Role{})
	if err != nil {
		t.Fatal(err)
	}
	var obs teasel.Observation
	for _, charged := range []bool{false, true} {
		if err := ex.Exec(t.Context(), nil, &obs); err != nil {
			t.Fatal(err)
		}
		ex.(*executor).turn.leave()
		if got := share.account.even+share.account.earned > 0; got != charged {
			t.Errorf("a turn was charged: %v, want %v", got, charged)
		}
	}
}
