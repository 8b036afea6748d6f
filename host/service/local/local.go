// Package local lets a user's programs use the services that the same user runs on the same machine: such a service keeps a token for the
// time that it runs, in a file that only the user may read, and programs find it by the service's address.
package local

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/shadowcourt/shadowcourt/host/internal/private"
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

// maxToken is the most that is read of a token.
const maxToken = 4 << 10

// Keep writes the token of a service that listens at an origin, such as http://127.0.0.1:8712. remove removes the file, unless another
// service has written it since. What is left of a service that was killed is replaced.
func Keep(origin, token string) (remove func(), err error) {
	name, err := file(origin)
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
	if err := private.Folder(info); err != nil {
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

// Find gives the token of the user's own service at an origin, and the origin to send it to; empty where there is none. localhost may be
// several addresses, of which another user may have some: the token is for the address that the service listens at.
func Find(origin string) (at, token string, err error) {
	for _, at := range addresses(origin) {
		token, err := read(at)
		if token != "" || err != nil {
			return at, token, err
		}
	}
	return "", "", nil
}

func addresses(origin string) []string {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" || u.Hostname() != "localhost" {
		return []string{origin}
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	return []string{"http://" + net.JoinHostPort("127.0.0.1", port), "http://" + net.JoinHostPort("::1", port)}
}

func read(origin string) (string, error) {
	name, err := file(origin)
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
	if err := private.File(info); err != nil {
		return "", fmt.Errorf("token %s: %w", name, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxToken))
	return string(bytes.TrimSpace(text)), err
}

// file is the file of the service at an origin.
func file(origin string) (string, error) {
	dir, err := DataFolder()
	return filepath.Join(dir, "services", url.QueryEscape(origin)), err
}
