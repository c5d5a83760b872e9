package dialogue

import (
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// reaching is a testcase that reaches a declared state.
func reaching(id teasel.ID, m *model.Model, state string) teasel.Rating {
	s := NewSession(m)
	s.enter(state)
	var r Response
	s.arrive(&r)
	return teasel.Rating{ID: id, Complexity: 1, Features: teasel.NewFeatureSet(r.Feature())}
}

func TestSelectionByState(t *testing.T) {
	m, err := model.Load("../../examples/net/ftp.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		order Order
		state string
		want  [4]int // picks of each state out of 100, -1: any
	}{
		{RareFirst, "", [4]int{-1, -1, -1, -1}},
		{UnvisitedFirst, "", [4]int{-1, -1, -1, -1}},
		{BreadthFirst, "", [4]int{25, 25, 25, 25}},
		{DepthFirst, "", [4]int{-1, -1, -1, -1}},
		{Targeted, "renaming", [4]int{0, 0, 0, 100}},
		{Targeted, "named", [4]int{0, 100, 0, 0}},
	} {
		s := Selection{Model: m, Order: test.order, State: test.state, Share: 100}.NewScheduler()
		for i, st := range m.States {
			s.Add(reaching(teasel.ID(2*i), m, st.Name))
			s.Add(reaching(teasel.ID(2*i+1), m, st.Name))
		}
		r := random(1)
		var got [4]int
		for range 100 {
			p, ok := s.Next(r)
			if !ok || !p.Focus.IsState() || p.Energy <= 0 {
				t.Fatalf("%s: %+v, %v", test.order, p, ok)
			}
			got[p.ID/2]++
		}
		for i, want := range test.want {
			if want >= 0 && got[i] != want || want < 0 && got[i] == 0 {
				t.Errorf("%s %s: state %s was picked %d times of %v", test.order, test.state, m.States[i].Name, got[i], got)
			}
		}
	}
}

// Before the target is reached the nearest state is picked; a state without testcases never is.
func TestSelectionOnItsWay(t *testing.T) {
	m, err := model.Load("../../examples/net/ftp.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := Selection{Model: m, Order: Targeted, State: "renaming", Share: 100}.NewScheduler()
	r := random(1)
	if _, ok := s.Next(r); ok {
		t.Error("there is a pick without testcases")
	}
	s.Add(reaching(0, m, "start"))
	s.Add(reaching(1, m, "logged_in"))
	if p, _ := s.Next(r); p.ID != 1 {
		t.Errorf("testcase %d was picked, expected is the one in logged_in", p.ID)
	}
	s.Remove(1)
	if p, _ := s.Next(r); p.ID != 0 {
		t.Errorf("testcase %d was picked after the other was removed", p.ID)
	}
}
