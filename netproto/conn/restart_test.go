package conn

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A small server in C is started again and again. other is how many processes the machine has besides.
func BenchmarkRestart(b *testing.B) {
	const source = `
#include <stdlib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int n, char **v) {
	struct sockaddr_in at = {AF_INET, htons(atoi(v[1])), {htonl(INADDR_LOOPBACK)}};
	int l = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(l, (void *)&at, sizeof at) || listen(l, 5)) return 1;
	for (;;) close(accept(l, 0, 0));
}`
	program := filepath.Join(b.TempDir(), "server")
	c := exec.Command("gcc", "-O1", "-x", "c", "-", "-o", program)
	c.Stdin = strings.NewReader(source)
	if text, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, text)
	}
	a, err := ParseAddress("127.0.0.1:{port}")
	if err != nil {
		b.Fatal(err)
	}
	for _, others := range []int{0, 400} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			for range others {
				c := exec.Command("sleep", "1000")
				if err := c.Start(); err != nil {
					b.Fatal(err)
				}
				defer c.Wait()
				defer c.Process.Kill()
			}
			s, err := Open(context.Background(), Command{Args: []string{program, "{port}"}, Address: a, User: strconv.Itoa(os.Geteuid())})
			if err != nil {
				b.Fatal(err)
			}
			before := spent(b)
			for b.Loop() {
				if err := s.Restart(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(spent(b)-before)/float64(b.N), "cpu-ns/op")
			if err := s.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}

// spent returns the processor time of this process and of those that it has waited for, in nanoseconds.
func spent(b *testing.B) (sum int64) {
	for _, who := range [...]int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		sum += u.Utime.Nano() + u.Stime.Nano()
	}
	return sum
}
