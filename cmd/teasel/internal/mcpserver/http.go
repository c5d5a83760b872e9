package mcpserver

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/internal/loopback"
	mcprun "github.com/teaselfuzz/teasel/mcp/run"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// httpOptions is how a server is reached over HTTP. It is stored with the campaign and with each finding, without the values of
// environment variables.
type httpOptions struct {
	URL       string   `json:"url,omitempty"` // "": the server speaks over standard input and output
	Header    []string `json:"header,omitempty"`
	CA        string   `json:"ca,omitempty"`
	Insecure  bool     `json:"insecure,omitempty"`
	AllowHost []string `json:"allow_host,omitempty"`
}

func (o *httpOptions) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.URL, "url", "", "address of a server over HTTP: one that runs already, or, with {port} in it and in the command or --env, one that teasel starts")
	f.StringArrayVar(&o.Header, "header", nil, "line of the head of each HTTP request, 'Name: value'; ${NAME} in it is taken from the environment and written nowhere; may be given several times")
	f.StringVar(&o.CA, "ca", "", "file of PEM certificates that are trusted for https (default: those of the system)")
	f.BoolVar(&o.Insecure, "insecure", false, "accept any certificate for https")
	f.StringArrayVar(&o.AllowHost, "allow-host", nil, "host other than this machine that may be sent what breaks servers; may be given several times")
	flags.SetGroup(f, "HTTP", "url", "header", "ca", "insecure", "allow-host")
}

// check refuses what makes no sense, before anything is started. command is what is started.
func (o *httpOptions) check(command, env []string) error {
	if o.URL == "" {
		for _, f := range []struct {
			flag string
			set  bool
		}{{"header", len(o.Header) > 0}, {"ca", o.CA != ""}, {"insecure", o.Insecure}, {"allow-host", len(o.AllowHost) > 0}} {
			if f.set {
				return exit.Usage("for example: --url http://127.0.0.1:8080/mcp", "--%s is for servers over HTTP, and there is no --url", f.flag)
			}
		}
		return nil
	}
	u, err := url.Parse(strings.ReplaceAll(o.URL, server.PortWord, "1"))
	switch {
	case err != nil:
		return badURL("--url %q: not a URL: %w", o.URL, err)
	case u.Scheme != "http" && u.Scheme != "https":
		return badURL("--url %q: expected a URL that begins with http:// or https://", o.URL)
	case u.Hostname() == "":
		return badURL("--url %q: expected a host", o.URL)
	case !loopback.Host(u.Hostname()) && !slices.Contains(o.AllowHost, u.Hostname()):
		return exit.Usage("if that machine and what is on it may be broken: --allow-host "+u.Hostname(), "--url %q: %s is not this machine", o.URL, u.Hostname())
	case strings.Contains(o.URL, server.PortWord) && len(command) == 0:
		return exit.Usage("for example: --url '"+o.URL+"' -- node server.js '"+server.PortWord+"'", "--url %q: %s is for a server that teasel starts, and there is no command", o.URL, server.PortWord)
	case len(command) > 0 && !strings.Contains(o.URL, server.PortWord):
		return exit.Usage("for example: --url 'http://127.0.0.1:"+server.PortWord+"/mcp' --env 'PORT="+server.PortWord+"' -- COMMAND",
			"--url %q: a server that teasel starts gets a free port each time: expected %s in the URL", o.URL, server.PortWord)
	case len(command) > 0 && !strings.Contains(strings.Join(append(slices.Clone(command), env...), " "), server.PortWord):
		return exit.Usage("tell it as an argument, or with --env 'PORT="+server.PortWord+"'", "the server is not told which port to use: expected %s in its command or in --env", server.PortWord)
	}
	if _, err := o.tls(); err != nil {
		return err
	}
	_, err = o.header()
	return err
}

// badURL is for an address at which there cannot be a server.
func badURL(format string, args ...any) error {
	return exit.Usage("for example: --url http://127.0.0.1:8080/mcp", format, args...)
}

// header returns the lines with the values of variables.
func (o *httpOptions) header() (lines []string, err error) {
	for _, h := range o.Header {
		if name, _, ok := strings.Cut(h, ":"); !ok || strings.TrimSpace(name) == "" || strings.ContainsAny(h, "\r\n") {
			return nil, exit.Usage("for example: --header 'Authorization: Bearer ${TOKEN}'", "--header %q: expected 'Name: value'", h)
		}
		line, err := flags.Expand("--header", h)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// tls returns which certificates are accepted.
func (o *httpOptions) tls() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: o.Insecure}
	if o.CA == "" {
		return c, nil
	}
	pem, err := os.ReadFile(o.CA)
	if err != nil {
		return nil, exit.Usage("", "--ca: %w", err)
	}
	if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, exit.Usage("", "--ca %s: expected certificates in PEM", o.CA)
	}
	return c, nil
}

// apply has the target reach its server over HTTP.
func (o *httpOptions) apply(t *mcprun.Target) (err error) {
	if t.URL = o.URL; o.URL == "" {
		return nil
	}
	if t.Header, err = o.header(); err != nil {
		return fmt.Errorf("reading the finding's target: %w", err)
	}
	t.TLS, err = o.tls()
	return err
}
