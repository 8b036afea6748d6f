package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// served runs a user's service, and gives its address and the one that it prints to sign in.
func served(t *testing.T, u *user, args ...string) (address, signIn string) {
	t.Helper()
	cmd := u.command(t, append([]string{"serve", "--data", t.TempDir()}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stderr := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // it is told to stop by the end of the test's context
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "serving at "); ok {
			address = text
		}
		if text, ok := strings.CutPrefix(lines.Text(), "open "); ok {
			return address, text
		}
	}
	t.Fatalf("the service ended: %v", lines.Err())
	return "", ""
}

// browse opens addresses like a browser that keeps cookies, and gives the last status.
func browse(t *testing.T, roots *x509.CertPool, addresses ...string) (status int, cookies []*http.Cookie) {
	t.Helper()
	jar := must.Get(cookiejar.New(nil))(t)
	browser := &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		cookies = append(cookies, r.Response.Cookies()...)
		return nil
	}
	for _, address := range addresses {
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
		response, err := browser.Do(r)
		must.Do(t, err)
		_ = response.Body.Close()
		status = response.StatusCode
	}
	return status, cookies
}

// The owner of a service needs no token: the printed address signs in the browser, once, and commands find the service's own token. It is
// sent to no other server, and other users don't find it.
func TestAccept_FZ2_LocalUseNeedsOnlyThePrintedAddress(t *testing.T) {
	t.Parallel()
	u, other := newUser(t), newUser(t)
	u.env, other.env = []string{"XDG_DATA_HOME=" + t.TempDir()}, []string{"XDG_DATA_HOME=" + t.TempDir()}
	server, signIn := served(t, u, "--listen", "127.0.0.1:0")
	page := server + "/api/v1/dockets"
	if status, _ := browse(t, nil, page); status != http.StatusUnauthorized {
		t.Errorf("without signing in: %d", status)
	}
	if status, _ := browse(t, nil, signIn, page); status != http.StatusOK {
		t.Errorf("signed in: %d", status)
	}
	if status, _ := browse(t, nil, signIn, page); status != http.StatusUnauthorized {
		t.Errorf("the address is good again: %d", status)
	}
	again := u.run(t, "", "login", server)
	again.wants(t, 0, server+"/login/once?code=", "works once")
	if status, _ := browse(t, nil, strings.TrimSpace(again.out), page); status != http.StatusOK {
		t.Errorf("the next address: %d", status)
	}
	try := []string{"try", "inputs/surefire.xml", "--server"}
	u.run(t, "", append(try, server)...).wants(t, 0)
	u.run(t, "", append(try, strings.Replace(server, "127.0.0.1", "localhost", 1))...).wants(t, 0)
	other.run(t, "", append(try, server)...).wants(t, 2, "a token is needed")
	other.run(t, "", "login", server).wants(t, 2, "not a token")
	var sent atomic.Value
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if token := r.Header.Get("Authorization"); token != "" {
			sent.Store(token)
		}
	}))
	t.Cleanup(elsewhere.Close)
	u.run(t, "", append(try, elsewhere.URL)...)
	u.run(t, "", "login", elsewhere.URL)
	if token := sent.Load(); token != nil {
		t.Errorf("another server got %s", token)
	}
}

// A port that is in use is named with what to do, with and without --listen; a port alone is one of this machine.
func TestAccept_FZ5_PortsOfTheService(t *testing.T) {
	t.Parallel()
	l := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	must.Do(t, err)
	u := newUser(t)
	for _, listen := range []string{"127.0.0.1:" + port, port} {
		u.run(t, "", "serve", "--data", t.TempDir(), "--listen", listen).wants(t, 2,
			"port "+port+" is in use at 127.0.0.1:"+port+": another service may run there; stop it, or use --listen 127.0.0.1:0")
	}
	data := filepath.Join(t.TempDir(), "court")
	u.run(t, "", "serve", "--data", data, "--listen", "court").wants(t, 2, `--listen "court": use a host and a port, such as 127.0.0.1:8712, or a port alone`)
	if left, err := os.ReadDir(data); err == nil {
		t.Errorf("a rejected command line made %v", left)
	}
	u.run(t, "", "mcp", "--listen", port).wants(t, 2, "--listen", "have the agent start `shadowcourt mcp`")
	if address, _ := served(t, u, "--listen", "0"); !strings.HasPrefix(address, "http://127.0.0.1:") {
		t.Errorf("a port alone is at %s", address)
	}
}

// certify writes a certificate for 127.0.0.1 and localhost, and its key, and gives whom to trust.
func certify(t *testing.T, cert, key string) *x509.CertPool {
	t.Helper()
	secret := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "court"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret))(t)
	private := must.Get(x509.MarshalPKCS8PrivateKey(secret))(t)
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		must.Do(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(readFile(t, cert))) {
		t.Fatal("the certificate can't be read")
	}
	return pool
}

// With a certificate of its own the service speaks TLS alone, of version 1.2 or later, sessions are for https alone, and commands find its
// token as they do without TLS.
func TestAccept_FZ9_TheServiceHasACertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	roots := certify(t, cert, key)
	u := newUser(t)
	u.env = []string{"XDG_DATA_HOME=" + t.TempDir(), "SSL_CERT_FILE=" + cert}
	serve := []string{"--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key}
	server, signIn := served(t, u, serve...)
	if !strings.HasPrefix(server, "https://127.0.0.1:") {
		t.Fatal(server)
	}
	status, cookies := browse(t, roots, signIn, server+"/api/v1/dockets")
	if status != http.StatusOK || len(cookies) != 1 || !cookies[0].Secure || !strings.HasPrefix(cookies[0].Name, "__Host-") {
		t.Errorf("%d, %v", status, cookies)
	}
	u.run(t, "", "try", "inputs/surefire.xml", "--server", server).wants(t, 0)
	u.run(t, "", "login", server).wants(t, 0, server+"/login/once?code=")
	localhost := strings.Replace(server, "127.0.0.1", "localhost", 1)
	u.run(t, "", "try", "inputs/surefire.xml", "--server", localhost).wants(t, 0)
	u.run(t, "", "login", localhost).wants(t, 0, "/login/once?code=")
	u.run(t, "", "try", "inputs/surefire.xml", "--server", "http"+strings.TrimPrefix(server, "https")).wants(t, 2,
		"note: your own service at this port is "+server+"; its token goes to no other address", "this service speaks https; use "+server)
	address := strings.TrimPrefix(server, "https://")
	old := &tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}}
	if c, err := old.DialContext(t.Context(), "tcp", address); err == nil {
		_ = c.Close()
		t.Error("TLS 1.1 is spoken")
	}
	if status, _ := browse(t, nil, "http://"+address+"/healthz"); status != http.StatusBadRequest {
		t.Errorf("without TLS: %d", status)
	}
	u.run(t, "", "serve", "--data", dir, "--listen", "0", "--tls-cert", cert).wants(t, 2, "--tls-cert and --tls-key need each other")
	u.run(t, "", "serve", "--data", dir, "--listen", "0", "--tls-cert", cert, "--tls-key", cert).wants(t, 2, "--tls-cert and --tls-key: ")
}
