// Package judge makes findings of what a fuzz test came to: it reads what package testing or the Go runtime says of a
// failure, and names the same fault the same way whatever input shows it.
package judge
