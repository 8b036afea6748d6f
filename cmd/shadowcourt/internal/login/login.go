// Package login is the command that keeps tokens for docket services.
package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/render/sanitize"
	"github.com/shadowcourt/shadowcourt/host/run/input"
	"github.com/shadowcourt/shadowcourt/host/service/client"
)

// New is the command `login` of the program's version.
func New(s cli.Streams, version string) *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "login URL",
		Short: "Keep a token for a docket service",
		Long: `Keep a token for a docket service, for ` + "`shadowcourt try --server`" + `. The token is read from the
terminal without an echo, or from the standard input. When the service accepts it, it is
kept in a file that only you may read, in the folder shadowcourt/tokens of your
configuration, and sent to this scheme, host and port alone. The variable
` + open.TokenVariable + ` comes first.`,
		Example: `  shadowcourt login --help`,
		Args:    cli.ExactArgs(1, "the address of a service"),
		RunE: func(cmd *cobra.Command, args []string) error {
			server := strings.TrimRight(args[0], "/")
			if _, err := client.Origin(server); err != nil {
				return cli.InputError(err)
			}
			if remove {
				return removeToken(s, server)
			}
			return login(cmd.Context(), s, server, "shadowcourt/"+version)
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "remove the token that is kept for the service")
	return cmd
}

func login(ctx context.Context, s cli.Streams, server, program string) error {
	token, err := readToken(ctx, s, server)
	if err != nil {
		return cli.OrInterrupted(ctx, cli.InputError(err))
	}
	open.WarnOfClearText(s.Err, server, token)
	c, err := client.New(client.Config{Server: server, Token: token, Program: program})
	if err != nil {
		return cli.InputError(err)
	}
	me, err := c.Me(ctx)
	if err != nil {
		rejected, ok := errors.AsType[*client.Error](err)
		if ok && rejected.Rejected() {
			err = cli.InputError(err)
		}
		return cli.OrInterrupted(ctx, err)
	}
	if me.Via != "token" {
		return fmt.Errorf("%s did not look at the token", server)
	}
	file, err := open.KeepToken(server, token)
	if err != nil {
		return fmt.Errorf("the token was not kept: %w", err)
	}
	fmt.Fprintf(s.Out, "%s knows you as %s, with the scopes %s\n", server, sanitize.Line(me.Name), sanitize.Line(strings.Join(me.Scopes, ", ")))
	fmt.Fprintf(s.Err, "the token is kept in %s\n", sanitize.Line(file))
	if os.Getenv(open.TokenVariable) != "" {
		fmt.Fprintf(s.Err, "note: the variable %s is set and comes first\n", open.TokenVariable)
	}
	return nil
}

// readToken reads the token: from a terminal without an echo.
func readToken(ctx context.Context, s cli.Streams, server string) (string, error) {
	terminal := cli.TerminalFile(s.In)
	if terminal == nil {
		return open.ReadToken(input.NewReader(ctx, s.In))
	}
	fd := int(terminal.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(s.Err, "Token for %s: ", sanitize.Line(server))
	defer func() { fmt.Fprintln(s.Err) }()
	type answer struct {
		text []byte
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		answered <- answer{text, err}
	}()
	select {
	case a := <-answered:
		if a.err != nil && !errors.Is(a.err, io.EOF) {
			return "", a.err
		}
		return open.ParseToken(string(a.text))
	case <-ctx.Done():
		_ = term.Restore(fd, before) // the echo
		return "", ctx.Err()
	}
}

func removeToken(s cli.Streams, server string) error {
	removed, err := open.RemoveToken(server)
	switch {
	case err != nil:
		return err
	case !removed:
		return cli.InputError(fmt.Errorf("no token is kept for %s", server))
	}
	fmt.Fprintf(s.Out, "the token for %s is removed; it stays valid until `shadowcourt serve token revoke`\n", server)
	return nil
}
