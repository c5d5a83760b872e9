package session

import (
	"slices"
	"testing"
)

func TestTemplate(t *testing.T) {
	value := func(name string) string { return "<" + name + ">" }
	for _, test := range []struct {
		template, want string
		variables      []string
	}{
		{"demo://{id}", "demo://<id>", []string{"id"}},
		{"a/{x,y}/b{z}", "a/<x>,<y>/b<z>", []string{"x", "y", "z"}},
		{"{+path}{#frag}", "<path>#<frag>", []string{"path", "frag"}},
		{"a{/b*,c:3}{?d,e}{&f}", "a/<b>/<c>?d=<d>&e=<e>&f=<f>", []string{"b", "c", "d", "e", "f"}},
		{"{;x}{.y}", ";x=<x>.<y>", []string{"x", "y"}},
		{"plain", "plain", nil},
		{"open{", "open{", nil},
		{"{}", "<>", nil},
	} {
		if got := ExpandTemplate(test.template, value); got != test.want {
			t.Errorf("%s is %s, want %s", test.template, got, test.want)
		}
		if got := TemplateVariables(test.template); !slices.Equal(got, test.variables) {
			t.Errorf("%s has %v, want %v", test.template, got, test.variables)
		}
	}
}
