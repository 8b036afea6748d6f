package publish

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/publish"
)

// writeFlags are those of commands that write to a tracker only where they are told to.
type writeFlags struct {
	write, dry bool
	token      string
}

func (w *writeFlags) add(f *pflag.FlagSet, variables ...string) {
	f.BoolVar(&w.write, "write", false, "write; without it nothing is changed, and what would be is printed")
	f.BoolVar(&w.dry, "dry-run", false, "only print what would be written: the default")
	f.StringVar(&w.token, "token", "", "the token: a file, or env:NAME for a variable that holds it (default: the variable "+cli.OrList(variables)+")")
}

func (w *writeFlags) check() error {
	if w.write && w.dry {
		return errors.New("--write and --dry-run exclude each other")
	}
	return nil
}

// conclude prints what was done, or what would be, and counts failures.
func (w *writeFlags) conclude(s cli.Streams, written, planned, failed int) error {
	var err error
	switch {
	case w.write:
		_, err = fmt.Fprintf(s.Out, "written: %d\n", written)
	case planned > 0:
		_, err = fmt.Fprintf(s.Out, "would write: %d; nothing was written, use --write\n", planned)
	default:
		_, err = fmt.Fprintln(s.Out, "nothing to write")
	}
	if err == nil && failed > 0 {
		err = fmt.Errorf("failed: %d, as the table says", failed)
	}
	return err
}

// actionWords say whether something was done, would be, or failed.
func actionWords(action string, done, write bool) string {
	switch {
	case action == "failed" && done:
		return "failed in part"
	case action == "failed" || action == "keep" || action == "leave" || done:
		return action
	case write:
		return "not " + action
	}
	return "would " + action
}

// server is one of an address, with the token.
func (w *writeFlags) server(address, version string, variables ...string) (*publish.Server, error) {
	s, err := publish.ParseServer(address, false)
	if err != nil {
		return nil, err
	}
	if s.Token, err = publish.ReadToken(w.token, variables...); err != nil {
		return nil, fmt.Errorf("--token: %w", err)
	}
	if w.write && s.Token.Empty() {
		return nil, errors.New("--write needs a token: set the variable " + cli.OrList(variables) + ", or use --token")
	}
	s.Header, s.Prefix, s.Agent = "Authorization", "Bearer ", "shadowcourt/"+version
	return s, nil
}

// orVariable is a value, or that of the first variable which is set.
func orVariable(value string, names ...string) string {
	for _, name := range names {
		if value == "" {
			value = strings.TrimSpace(os.Getenv(name))
		}
	}
	return value
}
