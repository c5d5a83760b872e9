// Package run starts servers and runs scripts on them: a [Target] is the command that starts one, and a [Visit] shows what it
// has.
package run
