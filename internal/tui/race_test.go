//go:build race

package tui

const raceDetector = true // the tests run under it
