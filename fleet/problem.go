package fleet

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ProblemKind says what is wrong between a machine and its hub.
type ProblemKind uint8

const (
	ProblemInvalid     ProblemKind = iota
	ProblemAway                    // nothing answers: the machine goes on alone
	ProblemCredentials             // the hub does not know the user
	ProblemRights                  // the hub knows the user, who may not do this
	ProblemCertificate             // the hub's certificate does not verify
	ProblemCampaign                // the campaign of that name is another one
	ProblemVersion                 // the hub, or who began the campaign, is of another version
	ProblemLayout                  // the server is no hub of a fleet
	ProblemFull                    // there is no room on the hub
	ProblemTooLarge                // one message is larger than the hub takes
	ProblemStopped                 // the fleet was told to stop: a campaign that begins would end at once
	ProblemDisk                    // a file of this machine cannot be read or written
	ProblemOther
)

// Problem is an error of a hub, in words for the user. In none of them is a finding lost: it is in the campaign's directory.
type Problem struct {
	Kind ProblemKind
	Text string
	Hint string // what to do; "": nothing comes to mind
	Err  error  // nil: there is no other
}

func (p *Problem) Error() string { return p.Text }

// Unwrap returns Err.
func (p *Problem) Unwrap() error { return p.Err }

// Fatal reports whether a campaign that has this problem at its beginning should not begin.
func (p *Problem) Fatal() bool {
	switch p.Kind {
	case ProblemCredentials, ProblemRights, ProblemCertificate, ProblemCampaign, ProblemVersion, ProblemLayout, ProblemStopped:
		return true
	}
	return false
}

// The codes of JetStream's errors that say that there is no room. CAS failures have another code, 10071.
var fullCodes = map[jetstream.ErrorCode]bool{10023: true, 10047: true, 10077: true, 10028: true, 10002: true}

const wrongLastSequence jetstream.ErrorCode = 10071

// explain returns an error as a Problem. url is the hub's.
func explain(url string, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if p := explainDisk(err); p != nil {
		return p
	}
	if p := explainTLS(url, err); p != nil {
		return p
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && fullCodes[api.ErrorCode] {
		return &Problem{ProblemFull, fmt.Sprintf("the hub at %s has no room: %v", url, api.Description), "restart teasel-hub with a larger --max-store; what it refuses is sent again", err}
	}
	text := strings.ToLower(err.Error())
	switch {
	case strings.Contains(text, "permissions violation"):
		return &Problem{ProblemRights, fmt.Sprintf("the hub at %s does not allow this user what it wants: %v", url, err),
			"the credentials may be of another campaign: see --hub-name and --hub-creds; 'teasel-hub init' makes new ones", err}
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), strings.Contains(text, "authorization violation"),
		strings.Contains(text, "nkeys not supported"):
		return &Problem{ProblemCredentials, fmt.Sprintf("the hub at %s refuses these credentials", url), "give those of this machine that 'teasel-hub init' has made: --hub-creds FILE", err}
	case errors.Is(err, nats.ErrMaxPayload), strings.Contains(text, "maximum payload"), strings.Contains(text, "message size exceeds"):
		return &Problem{ProblemTooLarge, fmt.Sprintf("a message is larger than the hub at %s takes", url), "it stays in the campaign's directory; a NATS server has max_payload", err}
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return &Problem{ProblemLayout, fmt.Sprintf("the NATS server at %s has no JetStream", url), "start it with -js, or use teasel-hub", err}
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrTimeout), errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrNoResponders),
		errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrConnectionReconnecting), errors.Is(err, jetstream.ErrNoStreamResponse), isNetwork(err):
		return &Problem{ProblemAway, fmt.Sprintf("the hub at %s does not answer: %v", url, err), "is teasel-hub, or a NATS server with JetStream, running there?", err}
	}
	return &Problem{ProblemOther, fmt.Sprintf("the hub at %s: %v", url, err), "", err}
}

// isNetwork reports whether an error is one of the connection. A hub that is killed while somebody connects to it ends the connection in
// the middle.
func isNetwork(err error) bool {
	_, ok := errors.AsType[net.Error](err)
	return ok || errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, nats.ErrConnectionClosed)
}

// explainDisk explains an error of this machine's files, whose cause looks like one of a connection.
func explainDisk(err error) *Problem {
	_, path := errors.AsType[*fs.PathError](err)
	if _, link := errors.AsType[*os.LinkError](err); !path && !link {
		return nil
	}
	return &Problem{ProblemDisk, fmt.Sprintf("what the hub has cannot be noted in the campaign's directory: %v", err), "is the disk full, or the directory read-only?", err}
}

func explainTLS(url string, err error) *Problem {
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok && e.Reason == x509.Expired {
		return &Problem{ProblemCertificate, fmt.Sprintf("the certificate of the hub at %s is not valid at this machine's time, %s: %v", url, time.Now().Format(time.DateTime), err),
			"set the machine's clock, or give the hub a new certificate: 'teasel-hub init'", err}
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return &Problem{ProblemCertificate, fmt.Sprintf("the certificate of the hub at %s is for another name: %v", url, e), "use a name that is in it, or make one: 'teasel-hub init --host NAME'", err}
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return &Problem{ProblemCertificate, fmt.Sprintf("the certificate of the hub at %s does not verify: %v", url, err), "give the authority that has signed it: --hub-ca FILE, ca.pem of 'teasel-hub init'", err}
	}
	switch {
	case errors.Is(err, nats.ErrSecureConnRequired), errors.Is(err, nats.ErrSecureConnWanted):
		return &Problem{ProblemCertificate, fmt.Sprintf("the hub at %s has no TLS, and tls:// asks for it", url), "use nats://, or start the hub with --tls-cert and --tls-key", err}
	case strings.Contains(err.Error(), "x509:"), strings.Contains(err.Error(), "tls:"):
		return &Problem{ProblemCertificate, fmt.Sprintf("the certificate of the hub at %s does not verify: %v", url, err), "give the authority that has signed it: --hub-ca FILE", err}
	}
	return nil
}
