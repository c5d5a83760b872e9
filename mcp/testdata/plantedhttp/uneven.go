package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// Bugs that show in one request of several, or after many.

// uneven treats a request otherwise than the one before, and reports whether it has answered it.
func (s *server) uneven(w http.ResponseWriter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.has("declines-some") && s.requests%3 == 0 { // bug
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return true
	}
	return false
}

// exchange gives each of two calls that are in flight at a time the text of the other.
func (s *server) exchange(text string) string {
	if !s.has("swapped-answers") {
		return text
	}
	s.mu.Lock()
	if other := s.waiting; other != nil {
		s.waiting = nil
		s.mu.Unlock()
		other <- text
		return <-other
	}
	mine := make(chan string)
	s.waiting = mine
	s.mu.Unlock()
	select {
	case theirs := <-mine:
		mine <- text
		return theirs
	case <-time.After(2 * time.Millisecond):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == mine {
		s.waiting = nil
		return text
	}
	theirs := <-mine
	go func() { mine <- text }()
	return theirs
}

// leave leaves something behind of a call.
func (s *server) leave() {
	switch s.bug {
	case "slow":
		time.Sleep(200 * time.Millisecond)
	case "call-file":
		if f, err := os.Open(os.DevNull); err == nil {
			s.mu.Lock()
			s.held = append(s.held, f)
			s.mu.Unlock()
		}
	case "call-zombie":
		exec.Command("true").Start()
	case "slower":
		s.mu.Lock()
		s.held = append(s.held, bytes.Repeat([]byte{'a'}, 20<<10))
		all := s.held
		s.mu.Unlock()
		n := 0
		for _, text := range all { // bug: all that was kept is looked at
			n += bytes.Count(text.([]byte), []byte("b"))
		}
		fmt.Fprint(os.Stderr, ""[:n])
	}
}
