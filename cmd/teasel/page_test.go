package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// servesPage runs a command that serves a page, until what the page asks for matches all of the patterns, and interrupts it.
func servesPage(ts *testscript.TestScript, neg bool, args []string) {
	at := -1
	for i, a := range args {
		if a == "--" {
			at = i
			break
		}
	}
	if neg || at < 1 || at == len(args)-1 {
		ts.Fatalf("usage: page PATTERN... -- COMMAND [ARG...]")
	}
	program := ""
	for dir := range strings.SplitSeq(ts.Getenv("PATH"), string(filepath.ListSeparator)) {
		if path := filepath.Join(dir, args[at+1]); program == "" && exec.Command("test", "-x", path).Run() == nil {
			program = path
		}
	}
	cmd := exec.Command(program, args[at+2:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "TMPDIR", "TEASEL_UI_TOKEN"} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	stderr, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	var said bytes.Buffer
	lines := bufio.NewReader(io.TeeReader(stderr, &said))
	read := make(chan struct{})
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		<-read
		_ = cmd.Wait() // its status is that of an interrupt
	}()
	address := ""
	for address == "" {
		line, err := lines.ReadString('\n')
		if _, url, ok := strings.Cut(line, "the page of this campaign is at "); ok {
			address = strings.TrimSpace(url)
		} else if err != nil {
			close(read)
			ts.Fatalf("it serves no page:\n%s", said.String())
		}
	}
	go func() { // or it would wait for us
		defer close(read)
		_, _ = io.Copy(io.Discard, lines)
	}()
	var text string
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		text = fetch(address, "api/state") + fetch(address, "metrics")
		matched := text != ""
		for _, p := range args[:at] {
			matched = matched && regexp.MustCompile(p).MatchString(text)
		}
		if matched {
			return
		}
	}
	ts.Fatalf("the page does not match %q:\n%s", args[:at], text)
}

func fetch(address, path string) string {
	address, token, _ := strings.Cut(address, "?token=")
	req, err := http.NewRequest("GET", address+path, nil)
	if err != nil {
		return fmt.Sprint(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Sprint(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return string(text)
}
