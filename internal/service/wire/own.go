package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// DataFolder is the user's own folder for data of this program.
func DataFolder() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "shadowcourt"), nil
	}
	switch runtime.GOOS {
	case "windows", "darwin":
		dir, err := os.UserConfigDir() // AppData, Application Support: these systems keep data there
		return filepath.Join(dir, "shadowcourt"), err
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "share", "shadowcourt"), err
}

// maxTokenFile is the most that is read of a token.
const maxTokenFile = 4 << 10

// KeepOwn writes the token of a service of the user, for the time that it runs: to a file that only the user may read, where the user's
// programs find it by the address of the service. It listens at an origin, such as http://127.0.0.1:8712. remove removes the file, unless another
// service has written it since. What is left of a service that was killed is replaced.
func KeepOwn(origin, token string) (remove func(), err error) {
	name, err := ownFile(origin)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if err := disk.PrivateFolder(info); err != nil {
		return nil, fmt.Errorf("folder %s: %w", dir, err)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// A new file, so that none that others have open, and no link, gets the token.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(token + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	return func() {
		if text, err := os.ReadFile(name); err == nil && string(bytes.TrimSpace(text)) == token {
			_ = os.Remove(name) // one that stays is of no use to anybody
		}
	}, nil
}

// Own is a service that the user runs on this machine.
type Own struct {
	// Origin is where to send requests.
	Origin string
	// Address to connect to, whatever the origin's name may resolve to; empty for that of the origin.
	Address string
	Token   string
}

// FindOwn gives the user's own service at an origin; without a token where there is none. localhost may be several addresses, of which another
// user may have some: the token is for the address that the service listens at. With TLS the service shows a certificate for the name that
// it was asked by, so the origin stays.
func FindOwn(origin string) (Own, error) {
	u, err := url.Parse(origin)
	if err != nil {
		return Own{}, nil //nolint:nilerr // no service has such an address
	}
	if u.Hostname() != "localhost" {
		token, err := readOwn(origin)
		return Own{Origin: origin, Token: token}, err
	}
	for _, at := range loopback(u.Scheme, u) {
		token, err := readOwn(at.String())
		switch {
		case token == "" && err == nil:
		case u.Scheme == "http":
			return Own{Origin: at.String(), Token: token}, err
		default:
			return Own{Origin: origin, Address: at.Host, Token: token}, err
		}
	}
	return Own{}, nil
}

// OwnNear is the origin of a service of the user's at the same port of this machine, by another address or scheme; empty where there is none,
// or the origin is not on this machine. Another user's program may listen at the origin itself: it must not get the token.
func OwnNear(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && !ip.IsLoopback() {
		return ""
	}
	for _, scheme := range []string{"http", "https"} {
		for _, at := range loopback(scheme, u) {
			if token, err := readOwn(at.String()); token != "" && err == nil && at.String() != origin {
				return at.String()
			}
		}
	}
	return ""
}

// loopback are the addresses of this machine with the port of an origin.
func loopback(scheme string, of *url.URL) []*url.URL {
	port := cmp.Or(of.Port(), map[string]string{"http": "80", "https": "443"}[of.Scheme])
	var list []*url.URL
	for _, host := range []string{"127.0.0.1", "::1"} {
		list = append(list, &url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)})
	}
	return list
}

func readOwn(origin string) (string, error) {
	name, err := ownFile(origin)
	if err != nil {
		return "", nil // a user without a folder for data runs no service that keeps a token
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if err := disk.PrivateFile(info); err != nil {
		return "", fmt.Errorf("token %s: %w", name, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxTokenFile))
	return string(bytes.TrimSpace(text)), err
}

// ownFile is the file of the service at an origin.
func ownFile(origin string) (string, error) {
	dir, err := DataFolder()
	return filepath.Join(dir, "services", url.QueryEscape(origin)), err
}
