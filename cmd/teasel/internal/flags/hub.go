package flags

import (
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/fleet"
)

// Hub says which fleet a campaign is part of. The zero value is none.
type Hub struct {
	URL         string        `json:"url,omitempty"`
	Credentials string        `json:"credentials,omitempty"`
	CA          string        `json:"ca,omitempty"`
	Campaign    string        `json:"campaign,omitempty"`
	Machine     string        `json:"machine,omitempty"`
	Hold        time.Duration `json:"hold,omitempty"`
	Every       time.Duration `json:"every,omitempty"`
}

// AddHub gives a command the flags of a fleet's hub.
func AddHub(f *pflag.FlagSet, h *Hub) {
	f.Var(Named(&h.URL), "hub", "fuzz as one machine of a fleet, whose hub is at this address: nats://HOST:4222 or tls://HOST:4222; several of a cluster are separated by commas")
	AddHubLogin(f, h)
	f.Var(Named(&h.Machine), "hub-machine", "name of this machine in the fleet (default: that of the credentials, or the host's and a number)")
	f.DurationVar(&h.Hold, "hub-hold", time.Minute, "how long a testcase must have been kept before it is sent to the hub")
	f.DurationVar(&h.Every, "hub-every", 10*time.Second, "time between two exchanges with the hub, on average; findings are sent at once")
	SetGroup(f, fleetGroup, "hub", "hub-machine", "hub-hold", "hub-every")
}

// AddHubLogin gives a command the flags with which a hub is entered.
func AddHubLogin(f *pflag.FlagSet, h *Hub) {
	f.Var(Named(&h.Credentials), "hub-creds", "file with the credentials of this machine, as 'teasel-hub init' writes it; or one of NATS, with a seed or a token")
	f.Var(Named(&h.CA), "hub-ca", "file with the certificate of the authority that has signed the hub's")
	f.Var(Named(&h.Campaign), "hub-name", "name of the campaign on the hub (default: that of the credentials, or the kind and the target's name)")
	SetGroup(f, fleetGroup, "hub-creds", "hub-ca", "hub-name")
}

// fleetGroup is the title of the flags of a hub.
const fleetGroup = "Fleet"

// Config returns how to reach the hub: campaign and machine are the names if neither the flags nor the credentials say others.
func (h *Hub) Config(campaign, machine string) (c fleet.Config, err error) {
	c = fleet.Config{CA: h.CA, Campaign: h.Campaign, Machine: h.Machine}
	if c.URL, err = Expand("--hub", h.URL); err != nil {
		return c, err
	}
	if h.Credentials != "" {
		if c.Credentials, err = fleet.ReadCredentials(h.Credentials); err != nil {
			return c, exit.Usage("'teasel-hub init' makes a file for each machine", "--hub-creds: %w", err)
		}
	}
	if h.CA != "" {
		pem, err := os.ReadFile(h.CA)
		if err == nil && !x509.NewCertPool().AppendCertsFromPEM(pem) {
			err = fmt.Errorf("%s has no certificate: expected a file in PEM, with \"BEGIN CERTIFICATE\"", h.CA)
		}
		if err != nil {
			return c, exit.Usage("'teasel-hub init --host NAME' writes it: tls/ca.pem", "--hub-ca: %w", err)
		}
	}
	for _, n := range []struct {
		into                   *string
		flag, theirs, fallback string
	}{{&c.Campaign, "--hub-name", c.Credentials.Campaign, campaign}, {&c.Machine, "--hub-machine", c.Credentials.Machine, machine}} {
		given := *n.into != ""
		if !given {
			if *n.into = n.theirs; n.theirs == "" {
				*n.into = n.fallback
			}
		}
		if err := fleet.CheckName(*n.into); err != nil {
			return c, exit.Usage("for example "+n.flag+" parser", "%s: %w", n.flag, err)
		}
	}
	return c, nil
}

// Check refuses values that make no sense.
func (h *Hub) Check() error {
	switch {
	case h.URL == "" && (h.Credentials != "" || h.CA != "" || h.Campaign != "" || h.Machine != ""):
		return exit.Usage("for example --hub nats://127.0.0.1:4222", "--hub-creds, --hub-ca, --hub-name and --hub-machine are for --hub, which is missing")
	case h.URL != "" && (h.Hold <= 0 || h.Every <= 0):
		return exit.Usage("", "--hub-hold %v, --hub-every %v: expected more than 0", h.Hold, h.Every)
	}
	return nil
}
