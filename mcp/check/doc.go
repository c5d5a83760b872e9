// Package check makes the scripts that look for one thing systematically, rather than by chance: [All] has them by label, and
// the detectors of package judge hold the answers against what each of them expects.
package check
