package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// write writes a certificate with a serial number, and its key.
func write(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1e9+serial, 0)
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// A certificate that was renewed is used without a restart; half of a renewal leaves the one before.
func TestARenewedCertificateIsUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := &certificate{cert: filepath.Join(dir, "cert"), key: filepath.Join(dir, "key"), log: slog.New(slog.DiscardHandler)}
	write(t, c.cert, c.key, 1)
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	serial := func() int64 {
		t.Helper()
		leaf := func(pair *tls.Certificate) *x509.Certificate {
			parsed, err := x509.ParseCertificate(pair.Certificate[0])
			if err != nil {
				t.Fatal(err)
			}
			return parsed
		}
		return leaf(c.get(now)).SerialNumber.Int64()
	}
	if n := serial(); n != 1 {
		t.Errorf("%d", n)
	}
	write(t, c.cert, filepath.Join(dir, "not yet"), 2)
	now = now.Add(lookAgain)
	if n := serial(); n != 1 {
		t.Errorf("with half of the new one: %d", n)
	}
	write(t, c.cert, c.key, 3)
	if n := serial(); n != 1 {
		t.Errorf("before the files are looked at again: %d", n)
	}
	now = now.Add(lookAgain)
	if n := serial(); n != 3 {
		t.Errorf("renewed: %d", n)
	}
}
