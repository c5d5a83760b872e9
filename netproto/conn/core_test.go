package conn

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/triage"
)

// The image of its memory says in which functions a server without a sanitizer has died, of what it did itself and of abort,
// which is in the C library.
func TestStack(t *testing.T) {
	pattern, err := os.ReadFile("/proc/sys/kernel/core_pattern")
	if err != nil || strings.ContainsAny(string(pattern), "|/@") {
		t.Skipf("skipped: images of processes go elsewhere on this machine: %s", pattern)
	}
	const source = `
#include <stdlib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
__attribute__((noinline)) void wild(volatile int *p) { *p = 1; }
__attribute__((noinline)) void handle(char c) { if (c == 'a') abort(); wild(0); __asm__ volatile(""); }
int main(int n, char **v) {
	struct sockaddr_in at = {AF_INET, htons(atoi(v[1])), {htonl(INADDR_LOOPBACK)}};
	int l = socket(AF_INET, SOCK_STREAM, 0);
	char c = 0;
	if (bind(l, (void *)&at, sizeof at) || listen(l, 5)) return 1;
	int fd = accept(l, 0, 0);
	read(fd, &c, 1);
	handle(c);
	return n;
}`
	program := t.TempDir() + "/dies"
	c := exec.Command("gcc", "-O1", "-x", "c", "-", "-o", program)
	c.Stdin = strings.NewReader(source)
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for message, want := range map[string][]string{"a": {"handle", "main"}, "w": {"wild", "handle", "main"}} {
		a, err := ParseAddress("127.0.0.1:{port}")
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(context.Background(), Command{Args: []string{program, "{port}"}, Address: a, User: strconv.Itoa(os.Geteuid())})
		if err != nil {
			t.Fatal(err)
		}
		link, err := s.Connect(context.Background(), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if _, state := talk(t, s, link, message); state != Ended {
			t.Fatalf("%q: %v", message, state)
		}
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		var symbols triage.Symbols
		var got []string
		for _, path := range s.Cores() {
			signal, stack, err := symbols.Core(path)
			if err != nil || signal != s.Death().Signal {
				t.Errorf("%q: %v by %v, %v", message, signal, s.Death(), err)
			}
			for _, f := range stack {
				if !f.InLibrary() {
					got = append(got, f.Function)
				}
			}
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%q: the stack is %q, want %q first; %+v", message, got, want, s.Death())
		}
		if err := link.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
