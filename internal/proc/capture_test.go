package proc_test

import (
	"bytes"
	"io"
	"os/exec"
	"syscall"
	"testing"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// TestCapture: programs write any amount and seek anywhere; the last bytes are kept, and no write fails.
func TestCapture(t *testing.T) {
	c, err := proc.NewCapture("stderr")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, test := range []struct {
		script string
		length int
		tail   string
	}{
		{`printf hello >&2`, 5, "hello"},
		{`:`, 0, ""},
		{`head -c 65536 /dev/zero >&2`, 65536, ""},
		{`head -c 300000 /dev/zero >&2; printf the-end >&2`, 65536, "the-end"},
		{`printf again >&2`, 5, "again"},
		{`head -c 40000000 /dev/zero >&2; printf far >&2`, 65536, "far"},
	} {
		c.Rewind()
		cmd := exec.Command("sh", "-ec", test.script)
		cmd.Stderr = c.File()
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v", test.script, err)
		}
		c.Trim()
		got := c.Bytes()
		if len(got) != test.length || !bytes.HasSuffix(got, []byte(test.tail)) {
			t.Errorf("%s: %d bytes, want %d that end with %q", test.script, len(got), test.length, test.tail)
		}
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(int(c.File().Fd()), &st); err != nil || st.Blocks*512 > 16<<20 {
		t.Errorf("the file occupies %d bytes, %v", st.Blocks*512, err)
	}
	for _, at := range []int64{1 << 46, 1<<63 - 1} {
		if _, err := syscall.Seek(int(c.File().Fd()), at, io.SeekStart); err == nil && len(c.Bytes()) != 0 {
			t.Errorf("at offset %d: %d bytes", at, len(c.Bytes()))
		}
		c.Trim()
	}
	if err := syscall.Ftruncate(int(c.File().Fd()), 10); err == nil {
		t.Error("the file was shrunk below the mapping")
	}
	c.Rewind()
	if _, err := c.File().WriteString("x"); err != nil || string(c.Bytes()) != "x" {
		t.Errorf("%q, %v", c.Bytes(), err)
	}
}
