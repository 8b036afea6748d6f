package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is a certificate with its key in two files, which are read again when they changed. Safe for concurrent use.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	looked  time.Time
	stamp   [2]stamp
	current *tls.Certificate
}

// stamp tells a file from what replaces it.
type stamp struct {
	time time.Time
	size int64
}

// lookAgain is how long the files are not looked at again.
const lookAgain = 10 * time.Second

// tlsConfig reads the files; nil where the flags name none.
func (o *options) tlsConfig(log *slog.Logger) (*tls.Config, error) {
	switch {
	case o.tlsCert == "" && o.tlsKey == "":
		return nil, nil //nolint:nilnil // no TLS
	case o.tlsCert == "" || o.tlsKey == "":
		return nil, errors.New("--tls-cert and --tls-key need each other: a file with the certificate and its chain, and one with the private key, both in PEM")
	}
	c := &certificate{cert: o.tlsCert, key: o.tlsKey, log: log}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("--tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, // whose limits are those of connections
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get(time.Now()), nil },
	}, nil
}

// load reads the files if they changed.
func (c *certificate) load() error {
	var now [2]stamp
	for i, name := range [...]string{c.cert, c.key} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeType != 0 {
			return fmt.Errorf("%s is no file", name)
		}
		now[i] = stamp{info.ModTime(), info.Size()}
	}
	if now == c.stamp {
		return nil
	}
	c.stamp = now // a pair that can't be read is not tried again before it changes
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err == nil {
		c.current = &pair
	}
	return err
}

// get gives the certificate. One that can't be read leaves the one before.
func (c *certificate) get(now time.Time) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.looked) >= lookAgain {
		c.looked = now
		if err := c.load(); err != nil {
			c.log.Warn("the new certificate can't be read; the service keeps the current one", "error", err)
		}
	}
	return c.current
}
