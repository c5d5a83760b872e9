package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// httpModes misbehave over HTTP, at the port that their argument names.
func httpModes() []mode {
	return []mode{{"slow-death", `cuts all connections at "die", and takes one more before it exits, which takes half a second; answers "wait" never`, slowDeath}}
}

// slowDeath dies as a program does whose wrapper, or whose dump of memory, takes its time.
func slowDeath(arguments []string) int {
	listener, err := net.Listen("tcp", "127.0.0.1:"+arguments[0])
	if err != nil {
		return 4
	}
	var mu sync.Mutex
	dying, open := false, map[net.Conn]bool{}
	p := &plain{}
	s := &http.Server{
		ConnState: func(c net.Conn, state http.ConnState) {
			mu.Lock()
			defer mu.Unlock()
			if open[c] = true; dying && state == http.StateNew {
				listener.Close()
				c.Close()
			}
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m message
			switch json.NewDecoder(r.Body).Decode(&m); {
			case m.ID == nil:
				w.WriteHeader(http.StatusAccepted)
			case m.Params.Arguments.Message == "wait":
				<-r.Context().Done()
			case m.Params.Arguments.Message == "die":
				mu.Lock()
				defer mu.Unlock()
				dying = true
				for c := range open {
					c.Close()
				}
				time.AfterFunc(500*time.Millisecond, func() { os.Exit(1) })
			default:
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, p.answer(&m))
			}
		}),
	}
	s.Serve(listener)
	return waitForEver()
}
