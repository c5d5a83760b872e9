package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// certificate returns a certificate that vouches for itself.
func certificate(t *testing.T, until time.Time, names []string, ips []net.IP) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-48 * time.Hour), NotAfter: until, DNSNames: names, IPAddresses: ips,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(c)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// TestTLS: what is wrong with a certificate is said in one line, and what to do about it in another.
func TestTLS(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); !strings.Contains(string(body), `"initialize"`) {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":1000001,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"tls","version":"1"}}}`)
	})
	tomorrow, yesterday := time.Now().Add(24*time.Hour), time.Now().Add(-24*time.Hour)
	here := []net.IP{net.IPv4(127, 0, 0, 1)}
	for _, tt := range []struct {
		name            string
		until           time.Time
		names           []string
		ips             []net.IP
		trusted, any    bool
		noTLS, plainURL bool
		what, hint      string // "": it is a server like any other
	}{
		{name: "trusted", until: tomorrow, ips: here, trusted: true},
		{name: "any is taken", until: yesterday, names: []string{"other.example"}, any: true},
		{name: "unknown authority", until: tomorrow, ips: here, what: "unknown authority", hint: "--ca FILE"},
		{name: "expired", until: yesterday, ips: here, trusted: true, what: "expired", hint: "renew it"},
		{name: "another name", until: tomorrow, names: []string{"other.example"}, trusted: true, what: "127.0.0.1", hint: "another name"},
		{name: "no TLS", until: tomorrow, ips: here, noTLS: true, what: "does not look like a TLS handshake", hint: "http://"},
		{name: "TLS, and the URL says http", until: tomorrow, ips: here, plainURL: true, what: "400", hint: "https://"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			own, pool := certificate(t, tt.until, tt.names, tt.ips)
			s := httptest.NewUnstartedServer(answer)
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.TLS = &tls.Config{Certificates: []tls.Certificate{own}}
			url := ""
			if tt.noTLS {
				s.Start()
				url = strings.Replace(s.URL, "http:", "https:", 1)
			} else {
				s.StartTLS()
				url = s.URL
			}
			defer s.Close()
			if tt.plainURL {
				url = strings.Replace(s.URL, "https:", "http:", 1)
			}
			c := Command{URL: url, TLS: &tls.Config{InsecureSkipVerify: tt.any}, Version: "2025-11-25", Timeout: 5 * time.Second, StartTimeout: 5 * time.Second}
			if tt.trusted {
				c.TLS.RootCAs = pool
			}
			p, err := c.Start()
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			_, err = c.Initialize(t.Context(), p)
			var start *StartError
			switch {
			case tt.what == "" && err != nil:
				t.Error(err)
			case tt.what != "" && (!errors.As(err, &start) || !strings.Contains(err.Error(), tt.what) || strings.Contains(err.Error(), "\n") || !strings.Contains(start.Hint, tt.hint)):
				t.Errorf("the error is %v, with the hint %q; want %q and %q", err, start.hint(), tt.what, tt.hint)
			}
		})
	}
}

func (e *StartError) hint() string {
	if e == nil {
		return ""
	}
	return e.Hint
}
