package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel/fleet"
)

func newInit(o *options) *cobra.Command {
	var campaign string
	var hosts []string
	machines := 1
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make the credentials of a campaign's machines, and the hub's certificate",
		Long: `Make the credentials of a campaign: one file a machine, with the smallest rights, and one for who gives orders with 'teasel fleet'. The
hub keeps their public keys. Called again, it adds machines and campaigns. With --host it makes the hub's certificate as well, or
without --campaign only that, and the authority, ca.pem, that machines give as --hub-ca.`,
		Example: `  teasel-hub init --host hub.example.org --campaign parser --machines 4
  teasel mcp --hub tls://hub.example.org:4222 --hub-ca ca.pem --hub-creds parser-m1.creds -- node server.js`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			users := campaign != "" || len(hosts) == 0 || cmd.Flags().Changed("machines")
			if err := fleet.CheckName(campaign); users && err != nil {
				return usage("for example --campaign parser", "--campaign: %w", err)
			}
			if machines < 1 || machines > 10000 {
				return usage("", "--machines %d: expected 1 to 10000", machines)
			}
			if err := os.MkdirAll(o.dir, 0o700); err != nil {
				return usage("choose another directory with --dir", "%w", err)
			}
			if len(hosts) > 0 {
				if err := makeCertificate(o.dir, hosts, cmd.ErrOrStderr()); err != nil {
					return err
				}
			}
			if !users {
				return nil
			}
			return makeUsers(o.dir, campaign, machines, cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&campaign, "campaign", "", "name of the campaign: letters, digits, _ and -")
	cmd.Flags().IntVar(&machines, "machines", 1, "machines to make credentials for")
	cmd.Flags().StringArrayVar(&hosts, "host", nil, "name or address at which machines reach the hub, for its certificate; may be given several times")
	return cmd
}

// makeUsers adds users to the hub's, and writes their credentials.
func makeUsers(dir, campaign string, machines int, stderr io.Writer) error {
	u, err := readUsers(dir)
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, "credentials")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return usage("choose another directory with --dir", "%w", err)
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(u.Users, func(x user) bool { return x.Campaign == campaign && x.Name == name })
	}
	add := func(name string, operator bool) error {
		pair, err := nkeys.CreateUser()
		if err != nil {
			return err
		}
		public, err := pair.PublicKey()
		if err != nil {
			return err
		}
		seed, err := pair.Seed()
		if err != nil {
			return err
		}
		c := fleet.Credentials{Campaign: campaign, Machine: name, Seed: seed}
		text, err := c.MarshalText()
		if err != nil {
			return err
		}
		path := filepath.Join(folder, campaign+"-"+name+".creds")
		if err := writeSecret(path, text); err != nil {
			return err
		}
		u.Users = append(u.Users, user{public, campaign, name, operator})
		fmt.Fprintf(stderr, "teasel-hub: wrote %s\n", path)
		return nil
	}
	if !taken("operator") {
		if err := add("operator", true); err != nil {
			return err
		}
	}
	for n := 1; machines > 0; n++ {
		if name := fmt.Sprintf("m%d", n); !taken(name) {
			if err := add(name, false); err != nil {
				return err
			}
			machines--
		}
	}
	if err := u.write(dir); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "teasel-hub: each machine gets a file of its own, with --hub-creds; a hub that runs must be started again to know them")
	return nil
}

// writeSecret writes a new file that only its owner may read.
func writeSecret(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usage("remove it if nobody uses it", "%s is there already, and the hub does not know it", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// validFor is how long certificates are valid, from a day ago on: clocks differ.
const validFor = 5 * 365 * 24 * time.Hour

// makeCertificate writes an authority and a certificate of the hub that it has signed. The authority's key is not kept.
func makeCertificate(dir string, hosts []string, stderr io.Writer) error {
	folder := filepath.Join(dir, "tls")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return usage("choose another directory with --dir", "%w", err)
	}
	for _, name := range []string{"ca.pem", "hub.pem", "hub-key.pem"} {
		if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
			return usage("leave --host out to add machines; for a certificate with other names remove "+folder+": every machine then needs the new ca.pem", "the hub has a certificate already, %s", filepath.Join(folder, name))
		}
	}
	begin := time.Now().Add(-24 * time.Hour)
	authority := &x509.Certificate{SerialNumber: big.NewInt(begin.UnixNano()), Subject: pkix.Name{CommonName: "teasel-hub authority"}, NotBefore: begin, NotAfter: begin.Add(validFor),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	hub := &x509.Certificate{SerialNumber: big.NewInt(begin.UnixNano() + 1), Subject: pkix.Name{CommonName: "teasel-hub"}, NotBefore: begin, NotAfter: begin.Add(validFor),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			hub.IPAddresses = append(hub.IPAddresses, ip)
		} else {
			hub.DNSNames = append(hub.DNSNames, h)
		}
	}
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, &signer.PublicKey, signer)
	if err != nil {
		return err
	}
	hubDER, err := x509.CreateCertificate(rand.Reader, hub, authority, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name, kind string
		der        []byte
	}{{"ca.pem", "CERTIFICATE", authorityDER}, {"hub.pem", "CERTIFICATE", hubDER}, {"hub-key.pem", "PRIVATE KEY", keyDER}} {
		if err := writeSecret(filepath.Join(folder, f.name), pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.der})); err != nil {
			return err
		}
	}
	fmt.Fprintf(stderr, "teasel-hub: wrote %s, %s and hub-key.pem; machines need ca.pem, with --hub-ca\n", filepath.Join(folder, "ca.pem"), "hub.pem")
	return nil
}
