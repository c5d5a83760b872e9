package fleet

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Credentials are those of one machine. teasel-hub init writes them to a file of lines; NATS's own files, of a seed or of a token and a seed,
// are taken as well.
type Credentials struct {
	Campaign string // the one that they are for; "": it is not said
	Machine  string // that they are for; "": it is not said
	Seed     []byte // of an nkey
	token    string // path of a file of NATS's with a token
}

// MarshalText returns the file. It is secret.
func (c *Credentials) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "# Credentials of teasel-hub. They are secret.\ncampaign %s\nmachine %s\nseed %s\n", c.Campaign, c.Machine, c.Seed), nil
}

// ReadCredentials reads a file of credentials.
func ReadCredentials(path string) (c Credentials, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("reading credentials: %w", err)
	}
	if bytes.Contains(text, []byte("BEGIN NATS USER JWT")) {
		c.token = path
		return c, nil
	}
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		word, value, _ := strings.Cut(line, " ")
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case word == "campaign":
			c.Campaign = value
		case word == "machine":
			c.Machine = value
		case word == "seed":
			c.Seed = []byte(value)
		case strings.HasPrefix(line, "SU"):
			c.Seed = []byte(line)
		default:
			return c, fmt.Errorf("reading credentials: %s:%d: expected campaign, machine or seed, as 'teasel-hub init' writes them", path, n+1)
		}
	}
	if _, err := nkeys.FromSeed(c.Seed); err != nil {
		return c, fmt.Errorf("reading credentials: %s: expected the seed of a user, a line that begins with \"seed SU\": %w", path, err)
	}
	return c, nil
}

// option returns what a connection needs; nil: nothing.
func (c *Credentials) option() (nats.Option, error) {
	if c.token != "" {
		return nats.UserCredentials(c.token), nil
	}
	if len(c.Seed) == 0 {
		return nil, nil
	}
	pair, err := nkeys.FromSeed(c.Seed)
	if err != nil {
		return nil, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	return nats.Nkey(public, pair.Sign), nil
}
