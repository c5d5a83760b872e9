package conn

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"testing"
	"time"
)

// encrypted has a listener speak TLS with a certificate of its own that nobody vouches for.
func encrypted(l net.Listener) net.Listener {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
}

// A server that does not speak TLS is no fault of the server's, and does not hang.
func TestTLSRefused(t *testing.T) {
	s, err := open(t, "lines", "tls://127.0.0.1:{port}")
	if err != nil {
		t.Fatal(err)
	}
	if c, err := s.Connect(context.Background(), 200*time.Millisecond); err == nil {
		t.Errorf("a connection: %v", c.Close())
	}
}
