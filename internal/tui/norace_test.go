//go:build !race

package tui

const raceDetector = false // the tests run under it
