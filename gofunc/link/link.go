// Package link is what the two processes of a typed fuzz test agree on: the test process, where the values and the engine's
// worker are, and the process that started it, which outlives it.
//
// The parent starts the test binary with [Environment] set to [Settings] and three files behind the standard ones:
// requests, answers, and a page of shared memory; a worker may have a fourth one with constants. In the mode Work the two pipes carry the worker's exchange. In the mode
// Serve the child first says [Hello] and then answers one [Request] after another, as JSON, which is how a parent that
// cannot hold a value of the test's type has one written, simplified and run. An encoded value is a file of Go's corpus, see
// [File].
package link

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Environment is the variable that makes a test binary a worker. It holds Settings as JSON.
const Environment = "TEASEL_GO_TYPED"

// Version is that of the protocol. The two processes are built from versions of teasel that may differ.
const Version = 3

// The files that a child has open, beside the standard ones.
const (
	RequestFile = 3
	AnswerFile  = 4
	PageFile    = 5

	ConstantsFile = 6 // if the settings say so
)

// Mode is what a child is for.
type Mode string

// The modes.
const (
	Work  Mode = "work"  // it is a worker of a campaign
	Serve Mode = "serve" // it answers requests
)

// Settings are what a child is given. The zero value of a field means what it means for a teasel.Campaign.
type Settings struct {
	Version int
	Mode    Mode
	Test    string // tells the fuzz test from all others, see judge.Failure
	Worker  int    `json:",omitempty"` // its number
	Seed    uint64 `json:",omitempty"`
	Draws   uint64 `json:",omitempty"` // inputs that earlier processes of the worker have made
	Runs    uint64 `json:",omitempty"`
	Tries   int    `json:",omitempty"`

	MaxStack int `json:",omitempty"` // bytes that a goroutine's stack may have; 0: as many as under plain go test

	Stages       []string `json:",omitempty"` // [policy.ChooseStages]; nil: all
	MinimizeRuns int      `json:",omitempty"` // 0: the engine's; negative: none

	Statistics string        `json:",omitempty"` // the file that the statistics of the pools are appended to; "": none
	Elapsed    time.Duration `json:",omitempty"` // since the first process of the worker began

	Constants bool `json:",omitempty"` // ConstantsFile has texts, and numbers in either order, of the package's source
}

// Read returns the settings in the environment, and nil without an error if this process is no child.
func Read() (*Settings, error) {
	text, ok := os.LookupEnv(Environment)
	if !ok {
		return nil, nil
	}
	var s Settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, fmt.Errorf("reading %s: %w", Environment, err)
	}
	if s.Version != Version {
		return nil, fmt.Errorf("the teasel that started this test speaks version %d of its protocol, the teasel that the test imports version %d: make their versions equal", s.Version, Version)
	}
	return &s, nil
}

// WriteConstants writes what [ReadConstants] reads. The environment, where the settings are, has too little room for it.
func WriteConstants(w io.Writer, constants []string) error {
	var b []byte
	for _, c := range constants {
		b = append(binary.AppendUvarint(b, uint64(len(c))), c...)
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("writing the constants: %w", err)
	}
	return nil
}

// ReadConstants reads the constants of the package's source.
func ReadConstants(r io.Reader) (constants []string, err error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading the constants: %w", err)
	}
	for len(b) > 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, errors.New("reading the constants: they are cut short")
		}
		constants = append(constants, string(b[n:n+int(size)]))
		b = b[n+int(size):]
	}
	return constants, nil
}

// Hello is what a child in the mode Serve says first.
type Hello struct {
	Version int
	Type    string
	Seeds   [][]byte // encoded values of the test
}

// Op is what is asked of a child.
type Op string

// The requests.
const (
	Unpack   Op = "unpack"   // Data is packed; answered with the encoded value and its complexity
	Measure  Op = "measure"  // Data is encoded; answered with its complexity
	Simplify Op = "simplify" // answered with candidate K, encoded
	Check    Op = "check"    // Data is encoded; answered with OK, or with a Failure: why it is no value of the test's type
	Run      Op = "run"      // runs Data; answered with the failure, if the process lives
)

// Request asks one thing of a child.
type Request struct {
	Op   Op
	Data []byte
	K    uint64
}

// Answer is what came of a request.
type Answer struct {
	Data       []byte
	Complexity float64
	OK         bool   // there is a candidate K; the run ended well
	Failure    string // what the test has said
	Err        string // the request could not be done
}
