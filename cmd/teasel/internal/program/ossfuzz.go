package program

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/libfuzzer"
)

// ossFuzzFiles sets options from the files next to a program that have its name, as OSS-Fuzz's builds put them there: NAME_seed_corpus.zip, NAME.dict and
// NAME.options. Flags that the user has given take precedence.
type ossFuzzFiles struct {
	o      *options
	given  func(flag string) bool // the user has set this flag
	stderr io.Writer
	dir    string   // of the program
	taken  []string // settings of the file of options
	wrong  []string // what is not understood of it

	options map[string]string // of sanitizers, by the name of the variable, with a colon behind each
}

// applyOSSFuzzFiles sets the options that the files next to the program contain. They are stored with the campaign like flags.
func applyOSSFuzzFiles(o *options, given func(flag string) bool, stderr io.Writer) error {
	program, err := exec.LookPath(o.Command[0])
	if err != nil {
		return nil // which is reported where the program is started
	}
	b := &ossFuzzFiles{o: o, given: given, stderr: stderr, dir: filepath.Dir(program)}
	if err := b.read(program + ".options"); err != nil {
		return err
	}
	b.list("dict", &o.Dict, program+".dict", "dictionary")
	b.list("corpus", &o.Corpus, program+"_seed_corpus.zip", "seeds")
	return nil
}

// list takes a file for a flag that may be given several times, unless there is a value for it.
func (b *ossFuzzFiles) list(flag string, into *[]string, file, what string) {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return
	}
	if b.given(flag) {
		fmt.Fprintf(b.stderr, "teasel: %s is left out: --%s is given\n", file, flag)
		return
	}
	if len(*into) > 0 { // the file of options names another
		return
	}
	*into = []string{file}
	fmt.Fprintf(b.stderr, "teasel: %s: taken from %s\n", what, file)
}

// read reads the file of options.
func (b *ossFuzzFiles) read(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return exit.Usage("the file beside the program has its options, as OSS-Fuzz has them; move it if it is something else", "%w", err)
	}
	section := ""
	for scan := bufio.NewScanner(bytes.NewReader(text)); scan.Scan(); {
		line := strings.TrimSpace(scan.Text())
		name, value, assigned := strings.Cut(line, "=")
		if !assigned {
			name, value, assigned = strings.Cut(line, ":")
		}
		name, value = strings.TrimSpace(name), strings.Trim(strings.TrimSpace(value), `"'`)
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[' && line[len(line)-1] == ']':
			section = strings.ToLower(strings.TrimSpace(line[1 : len(line)-1]))
		case !assigned || !b.set(section, name, value):
			b.wrong = append(b.wrong, strings.TrimPrefix(section+": "+line, ": "))
		}
	}
	b.apply()
	if len(b.taken) > 0 {
		fmt.Fprintf(b.stderr, "teasel: options: taken from %s: %s\n", file, strings.Join(b.taken, ", "))
	}
	if len(b.wrong) > 0 {
		fmt.Fprintf(b.stderr, "teasel: warning: %s: not understood, and left out: %s\n", file, strings.Join(b.wrong, ", "))
	}
	return nil
}

// sanitizerSections are the sections with a sanitizer's options, which are those of a variable.
var sanitizerSections = map[string]string{"asan": "ASAN_OPTIONS", "msan": "MSAN_OPTIONS", "ubsan": "UBSAN_OPTIONS", "tsan": "TSAN_OPTIONS", "lsan": "LSAN_OPTIONS"}

// otherEngines are sections for other fuzzers.
var otherEngines = []string{"afl", "afl++", "honggfuzz", "centipede"}

// set takes one setting. It reports whether it is understood.
func (b *ossFuzzFiles) set(section, name, value string) bool {
	switch variable := sanitizerSections[section]; {
	case variable != "":
		b.sanitizer(variable, name+"="+value)
		b.taken = append(b.taken, section+" "+name+"="+value)
	case section == "env":
		if !slices.ContainsFunc(b.o.Env, func(e string) bool { return e == name || strings.HasPrefix(e, name+"=") }) { // --env wins
			b.o.Env = append(b.o.Env, name+"="+value)
			b.taken = append(b.taken, name+"="+value)
		}
	case section == "libfuzzer":
		return b.libfuzzer(name, value)
	default:
		return slices.Contains(otherEngines, section)
	}
	return true
}

// sanitizer adds an option of a sanitizer's. Those of --env and of our own environment stay behind it: the last one counts.
func (b *ossFuzzFiles) sanitizer(variable, option string) {
	if b.options == nil {
		b.options = map[string]string{}
	}
	b.options[variable] += option + ":"
}

// apply adds the options of sanitizers to the environment.
func (b *ossFuzzFiles) apply() {
	for _, variable := range slices.Sorted(maps.Keys(b.options)) {
		own := os.Getenv(variable)
		at := slices.IndexFunc(b.o.Env, func(e string) bool { return strings.HasPrefix(e, variable+"=") })
		if at < 0 {
			at = len(b.o.Env)
			b.o.Env = append(b.o.Env, "")
		} else {
			own = b.o.Env[at][len(variable)+1:]
		}
		b.o.Env[at] = variable + "=" + strings.TrimSuffix(b.options[variable]+own, ":")
	}
}

// libfuzzer takes a flag of libFuzzer's.
func (b *ossFuzzFiles) libfuzzer(name, value string) bool {
	n, err := strconv.Atoi(value)
	number := func(flag string, take func(n int)) bool {
		if err != nil || n < 0 {
			return false
		}
		if !b.given(flag) {
			take(n)
			b.taken = append(b.taken, name+"="+value)
		}
		return true
	}
	switch name {
	case "max_len":
		return number("max-len", func(n int) { b.o.MaxLen = n })
	case "timeout":
		return number("timeout", func(n int) { b.o.Timeout = cmp.Or(time.Duration(n)*time.Second, b.o.Timeout) })
	case "rss_limit_mb":
		return number("memory-limit", func(n int) { b.o.MemoryLimit = flags.Size(n) << 20 })
	case "malloc_limit_mb":
		return number("malloc-limit", func(n int) { b.o.MallocLimit = flags.Size(n) << 20 })
	case "detect_leaks":
		for _, variable := range [...]string{"ASAN_OPTIONS", "LSAN_OPTIONS"} {
			b.sanitizer(variable, "detect_leaks="+value)
		}
		b.taken = append(b.taken, name+"="+value)
		return true
	case "dict":
		file := value
		if !filepath.IsAbs(file) {
			file = filepath.Join(b.dir, file)
		}
		b.list("dict", &b.o.Dict, file, "dictionary")
		return true
	}
	return libfuzzer.HasNoEffect(name)
}
