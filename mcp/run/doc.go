// Package run starts servers and runs scripts on them: a [Target] is the command that starts one, and [Target.Visit] shows
// what it has.
package run
