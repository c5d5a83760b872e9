package bench

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// What a child leaves behind is ours when it ends: it is ended too, and its time counts.
func TestOffspring(t *testing.T) {
	if err := Adopt(); err != nil {
		t.Fatal(err)
	}
	before := Used()
	out, err := exec.Command("sh", "-c", `sh -c 'i=0; while :; do i=$((i+1)); [ $i = 100000 ] && echo $$ && exec >&-; done' 2>/dev/null &`).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := Reap(); err != nil {
		t.Fatal(err)
	}
	if Used() <= before {
		t.Error("no processor time was counted")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
	if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("there are still children: %v", err)
	}
}
