package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// archive is where LibAFL's runtime is, or would be: LIBAFL_ARCHIVE, or what libafl.sh has built.
func archive(cache string) string {
	if given := os.Getenv("LIBAFL_ARCHIVE"); given != "" {
		return given
	}
	return filepath.Join(cache, "libafl", "libFuzzer.a")
}

// available leaves out LibAFL, and says why, if its runtime is not there. One that was asked for by LIBAFL_ARCHIVE has to be there.
func available(fuzzers []string, archive string, log io.Writer) ([]string, error) {
	if !slices.Contains(fuzzers, "libafl") {
		return fuzzers, nil
	}
	info, err := os.Stat(archive)
	switch {
	case err == nil && info.Mode().IsRegular():
		return fuzzers, nil
	case err == nil:
		err = fmt.Errorf("%s is no file", archive)
	}
	if os.Getenv("LIBAFL_ARCHIVE") != "" {
		return nil, fmt.Errorf("reading LIBAFL_ARCHIVE: %w", err)
	}
	fmt.Fprintf(log, "libafl is skipped: %v; bench/native/libafl.sh builds it, LIBAFL_ARCHIVE=FILE takes one that is there\n", err)
	rest := slices.DeleteFunc(slices.Clone(fuzzers), func(f string) bool { return f == "libafl" })
	if len(rest) == 0 {
		return nil, errors.New("no fuzzer is left to run")
	}
	return rest, nil
}

// libafl runs in one process, which does not restart after a crash, as libFuzzer does. It takes no seed of randomness. What ends it when
// its time is over is harness/counted.c.
func libafl(j job) []string {
	return []string{"timeout", "--preserve-status", "--signal=USR1", "--kill-after=30", j.seconds(), j.program, "-timeout=25", "-rss_limit_mb=2048",
		"-artifact_prefix=" + j.out + "/", filepath.Join(j.out, "corpus"), j.seeds}
}
