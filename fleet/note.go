package fleet

import "fmt"

// say hands a note to the user, once if it is given a name.
func (b *Bridge) say(once, format string, args ...any) {
	if once != "" && b.told[once] {
		return
	}
	b.told[once] = true
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// note tells the user of a problem when it begins, and when it is over.
func (b *Bridge) note(err error) {
	if err == nil {
		if b.trouble != ProblemInvalid {
			b.say("", "fleet: the hub at %s takes what is sent again", b.link.config.URL)
		}
		b.trouble = ProblemInvalid
		return
	}
	p := explain(b.link.config.URL, err)
	if p.Kind == b.trouble {
		return
	}
	b.trouble = p.Kind
	text := p.Text
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	b.say("", "fleet: %s; this machine goes on alone, and loses nothing", text)
}

// otherBuild tells the user that a machine has another build of the target, the first few times.
func (b *Bridge) otherBuild(build, who string) {
	ours := b.about.build()
	if build == ours || b.builds[build] || len(b.builds) >= buildsNamed {
		return
	}
	b.builds[build] = true
	b.say("", "fleet: %s fuzzes another build of the target, or with another teasel (%.80q, and ours is %.80q): its testcases are run as inputs, and what they reach is found out here", who, build, ours)
	if len(b.builds) == buildsNamed {
		b.say("", "fleet: there may be more builds; they are not named")
	}
}
