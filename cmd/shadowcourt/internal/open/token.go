package open

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// TokenVariable has the token for a service. It comes before one that was kept.
const TokenVariable = "SHADOWCOURT_TOKEN"

// maxToken is the most that is read of a token.
const maxToken = 4 << 10

// ParseToken checks a token that somebody gave. The error has nothing of it.
func ParseToken(text string) (string, error) {
	token := strings.TrimSpace(text)
	return token, auth.CheckToken(token)
}

// ReadToken reads a token from a stream.
func ReadToken(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxToken))
	if err != nil {
		return "", err
	}
	return ParseToken(string(text))
}

// Token is the one for a server: that of the variable, or the one that `login` keeps; empty where there is none.
func Token(server string, stderr io.Writer) (string, error) {
	if text := os.Getenv(TokenVariable); text != "" {
		token, err := ParseToken(text)
		if err != nil {
			return "", fmt.Errorf("the variable %s: %w", TokenVariable, err)
		}
		return token, nil
	}
	name, err := tokenFile(server)
	if err != nil {
		return "", nil // a user without a folder for configuration has kept no token
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("the token for %s: %w", server, err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil {
		warnOfMode(stderr, "token", name, info)
	}
	token, err := ReadToken(f)
	if err != nil {
		return "", fmt.Errorf("the token for %s in %s: %w; `shadowcourt login %s` keeps another", server, name, err, server)
	}
	return token, nil
}

// Own sets the address and the token of a client to those of the user's own service at the server's address, and says whether there is one.
// Where the user's own is at another address, stderr gets a note: a token goes to its service alone.
func Own(config *wire.ClientConfig, stderr io.Writer) (bool, error) {
	origin, err := wire.Origin(config.Server)
	if err != nil {
		return false, err
	}
	s, err := wire.FindOwn(origin)
	if err != nil {
		return false, err
	}
	if s.Token == "" {
		if near := wire.OwnNear(origin); near != "" {
			fmt.Fprintf(stderr, "note: your own service at this port is %s; its token goes to no other address\n", near)
		}
		return false, nil
	}
	config.Server, config.Address, config.Token = s.Origin, s.Address, s.Token
	return true, auth.CheckToken(s.Token)
}

// KeepToken keeps the token for a server in a file that only its owner may read, and gives the file's name.
func KeepToken(server, token string) (string, error) {
	name, err := tokenFile(server)
	if err != nil {
		return "", fmt.Errorf("there is no folder to keep the token in (%w): use the variable %s", err, TokenVariable)
	}
	if err := disk.MakeFolder(filepath.Dir(name), 0o700); err != nil {
		return "", err
	}
	return name, disk.Place(name, []byte(token+"\n"), 0o600)
}

// RemoveToken removes the token that is kept for a server, and says whether there was one.
func RemoveToken(server string) (bool, error) {
	name, err := tokenFile(server)
	if err != nil {
		return false, err
	}
	err = os.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// tokenFile is the file of a server's token: one for each origin, so that no token is sent to another.
func tokenFile(server string) (string, error) {
	origin, err := wire.Origin(server)
	if err != nil {
		return "", err
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "shadowcourt", "tokens", url.QueryEscape(origin)), nil
}

// WarnOfClearText warns of a token that everybody on the way can read.
func WarnOfClearText(stderr io.Writer, server, token string) {
	if u, err := url.Parse(server); token == "" || err != nil || u.Scheme != "http" || httplimit.IsLoopback(u.Host) {
		return
	}
	fmt.Fprintf(stderr, "warning: %s has no TLS: the token and the reports can be read on their way\n", sanitize.Line(server))
}

// Client makes a client with the token for a server: one that the user gave, or that of the user's own service.
func Client(stderr io.Writer, server string, config wire.ClientConfig) (*wire.Client, error) {
	token, err := Token(server, stderr)
	if err != nil {
		return nil, cli.InputError(err)
	}
	config.Server, config.Token = server, token
	if token == "" {
		if _, err := Own(&config, stderr); err != nil {
			return nil, cli.InputError(err)
		}
	}
	WarnOfClearText(stderr, config.Server, config.Token)
	c, err := wire.NewClient(config)
	return c, cli.InputError(err)
}
