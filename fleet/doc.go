// Package fleet makes one campaign of many machines. They share a hub: a NATS server with JetStream, such as cmd/teasel-hub or one that a team
// has already. A [Link] is a machine's way to the hub; a [Bridge] carries a campaign's testcases, findings and figures over it, and brings those
// of the others.
//
// The campaign never waits for the hub. What a campaign has to send is what is in its directory and not in the list of what the hub has
// acknowledged, so that a machine without its hub goes on alone, and catches up when the hub is back.
package fleet
