package mcp

// send is a step that is awaited; sendOn is one that is not.
func send(line []byte) Step     { return Step{Line: line} }
func sendText(line string) Step { return Step{Line: []byte(line)} }
func sendOn(line []byte) Step   { return Step{Line: line, NoWait: true} }

// handshake returns the steps that every session begins with.
func handshake(version string) []Step {
	return []Step{send(initializeLine(version)), sendText(initializedLine)}
}

// fresh returns a script on a process of its own, shared one in the session that is up.
func fresh(check string, steps ...Step) Script {
	return Script{Start: Fresh, Check: check, Steps: steps}
}
func shared(check string, steps ...Step) Script {
	return Script{Start: Shared, Check: check, Steps: steps}
}
