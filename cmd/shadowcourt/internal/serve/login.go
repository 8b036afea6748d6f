package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// NewLogin is the command `login` of the program's version.
func NewLogin(s cli.Streams, version string) *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "login [URL]",
		Short: "Keep a token for a docket service, or sign in to your own",
		Long: `Keep a token for a docket service, for ` + "`shadowcourt try --server`" + `. The token is read from the
terminal without an echo, or from the standard input. When the service accepts it, it is
kept in a file that only you may read, in the folder shadowcourt/tokens of your
configuration, and sent to this scheme, host and port alone. The variable
` + open.TokenVariable + ` comes first.

A service that you run yourself on this machine needs no token from you: login prints an
address that signs in your browser, once. Without URL it is the one at
` + ownService + `.`,
		Example: `  shadowcourt login https://court.example`,
		Args: func(cmd *cobra.Command, args []string) error {
			return cli.ExactArgs(min(len(args), 1), "the address of one service")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			server := ownService
			if len(args) > 0 {
				server = strings.TrimRight(args[0], "/")
			}
			if _, err := wire.Origin(server); err != nil {
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

// ownService is where `shadowcourt serve` listens by default.
const ownService = "http://127.0.0.1:8712"

// own prints an address that signs in a browser to the user's own service, if this is one that runs.
func own(ctx context.Context, s cli.Streams, server, program string) (bool, error) {
	config := wire.ClientConfig{Server: server, Program: program}
	if found, err := open.Own(&config, s.Err); !found || err != nil {
		return false, err
	}
	c, err := wire.NewClient(config)
	if err != nil {
		return false, err
	}
	address, err := c.SignInAddress(ctx)
	if rejected, ok := errors.AsType[*wire.Error](err); ok && rejected.Rejected() {
		return false, nil // it is of a service that was killed, and another one listens there
	}
	if err != nil {
		return false, err
	}
	if removed, err := open.RemoveToken(config.Server); removed && err == nil {
		fmt.Fprintf(s.Err, "removed the token that was kept for %s: it is your own service\n", config.Server)
	}
	fmt.Fprintln(s.Out, sanitize.Line(address))
	fmt.Fprintln(s.Err, "open it to sign in; it works once, for an hour. Commands on this machine need no token")
	return true, nil
}

func login(ctx context.Context, s cli.Streams, server, program string) error {
	done, err := own(ctx, s, server, program)
	if done || err != nil {
		return cli.OrInterrupted(ctx, err)
	}
	// Nobody should type a token for a server that is not there, or is no service.
	_, err = me(ctx, server, "", program)
	if rejected, ok := errors.AsType[*wire.Error](err); err != nil && (!ok || rejected.Problem.Code == "") {
		return err
	}
	token, err := readToken(ctx, s, server)
	if err != nil {
		return cli.OrInterrupted(ctx, cli.InputError(err))
	}
	open.WarnOfClearText(s.Err, server, token)
	known, err := me(ctx, server, token, program)
	if err != nil {
		return err
	}
	if known.Via != "token" {
		return fmt.Errorf("%s did not look at the token", server)
	}
	file, err := open.KeepToken(server, token)
	if err != nil {
		return fmt.Errorf("the token was not kept: %w", err)
	}
	fmt.Fprintf(s.Out, "%s knows you as %s, with the scopes %s\n", server, sanitize.Line(known.Name), sanitize.Line(strings.Join(known.Scopes, ", ")))
	fmt.Fprintf(s.Err, "the token is kept in %s\n", sanitize.Line(file))
	if os.Getenv(open.TokenVariable) != "" {
		fmt.Fprintf(s.Err, "note: the variable %s is set and comes first\n", open.TokenVariable)
	}
	return nil
}

// me asks a server who somebody with a token is.
func me(ctx context.Context, server, token, program string) (*wire.Me, error) {
	c, err := wire.NewClient(wire.ClientConfig{Server: server, Token: token, Program: program})
	if err != nil {
		return nil, cli.InputError(err)
	}
	known, err := c.Me(ctx)
	rejected, ok := errors.AsType[*wire.Error](err)
	switch {
	case ok && rejected.Rejected():
		err = cli.InputError(err)
	case errors.Is(err, syscall.ECONNREFUSED):
		err = fmt.Errorf("%w `shadowcourt serve` starts your own, and `shadowcourt login URL` takes the address of another", err)
	}
	return known, cli.OrInterrupted(ctx, err)
}

// readToken reads the token: from a terminal without an echo.
func readToken(ctx context.Context, s cli.Streams, server string) (string, error) {
	terminal := cli.TerminalFile(s.In)
	if terminal == nil {
		return open.ReadToken(run.NewReader(ctx, s.In))
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
