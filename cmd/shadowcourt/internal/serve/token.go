package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// localAuthor is who does something by the command line.
const localAuthor = "command line"

// newToken is the command `serve token`.
func newToken(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "token",
		Short:   "Make, list and revoke tokens of the service",
		Long:    "Make, list and revoke tokens of the service, in its database.",
		Example: `  shadowcourt serve token list --data court`,
		Args:    cli.NoSuchCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenAdd(s), newTokenList(s), newTokenRevoke(s))
	return cmd
}

// maxTokenDays is that of the API.
const maxTokenDays = 3660

func newTokenAdd(s cli.Streams) *cobra.Command {
	var scopes, submitter string
	var repositories []string
	var days int
	var list []auth.Scope
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a token, and print it once",
		Long: `Make a token, and print it. It is shown once: the database keeps a hash of it. NAME is for
people. Scopes are submit (submit and follow dockets), review (correct verdicts) and operate
(everything); reading needs any of them.`,
		Example: `  shadowcourt serve token add ci --scopes submit --data court`,
		Args:    cli.ExactArgs(1, "a name"),
		PreRunE: func(_ *cobra.Command, args []string) error {
			var err error
			if list, err = auth.ParseScopes(scopes); err != nil {
				return cli.InputError(fmt.Errorf("--scopes: %w", err))
			}
			if strings.TrimSpace(args[0]) == "" || days < 0 || days > maxTokenDays || slices.Contains(repositories, "") {
				return cli.InputError(errors.New("use names that are not empty, and --days from 0 to 3660"))
			}
			return nil
		},
	}
	opened(cmd, func(ctx context.Context, db *store.Store, args []string) error {
		secret, err := auth.NewToken(rand.Reader)
		if err != nil {
			return err
		}
		t := store.Token{Name: args[0], Submitter: submitter, Repositories: repositories, Author: localAuthor}
		if t.Submitter == "" {
			t.Submitter = t.Name
		}
		for _, scope := range list {
			t.Scopes = append(t.Scopes, string(scope))
		}
		if days > 0 {
			t.Expires = time.Now().AddDate(0, 0, days)
		}
		added, err := db.AddToken(ctx, auth.HashOf(secret).String(), t)
		if err != nil {
			return err
		}
		if err := db.Log(ctx, store.Action{Author: localAuthor, Action: "token.add", Target: "token " + strconv.FormatInt(added.ID, 10), Details: added.Name}); err != nil {
			return err
		}
		fmt.Fprintln(s.Out, secret)
		fmt.Fprintf(s.Err, "token %d is shown once; `shadowcourt serve token revoke %d` ends it\n", added.ID, added.ID)
		return nil
	})
	f := cmd.Flags()
	f.StringVar(&scopes, "scopes", string(auth.Submit), "submit, review, operate, or several with commas")
	f.StringVar(&submitter, "submitter", "", "whose dockets are submitted with it (default: NAME); submitters take turns")
	f.StringArrayVar(&repositories, "repository", nil, "limit the token to dockets of this repository; may be repeated (default: all)")
	f.IntVar(&days, "days", 0, "days until it ends by itself; 0: never")
	return cmd
}

func newTokenList(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List tokens, the latest first",
		Long:    "List tokens, the latest first, those included that were revoked.",
		Example: `  shadowcourt serve token list --data court`,
		Args:    cli.ExactArgs(0, "no arguments"),
	}
	opened(cmd, func(ctx context.Context, db *store.Store, _ []string) error {
		list, err := db.Tokens(ctx)
		if len(list) > 0 {
			fmt.Fprintln(s.Out, "ID\tSTATE\tNAME\tSUBMITTER\tSCOPES\tMADE\tREPOSITORIES")
		}
		for _, t := range list {
			state, limit := "valid", "all"
			if len(t.Repositories) > 0 {
				limit = sanitize.Line(strings.Join(t.Repositories, ","))
			}
			switch {
			case !t.Revoked.IsZero():
				state = "revoked"
			case !t.Expires.IsZero() && !time.Now().Before(t.Expires):
				state = "expired"
			}
			fmt.Fprintf(s.Out, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, state, sanitize.Line(t.Name), sanitize.Line(t.Submitter), strings.Join(t.Scopes, ","),
				t.Created.UTC().Format(time.RFC3339), limit)
		}
		if err == nil && len(list) == 0 {
			fmt.Fprintln(s.Out, "there are no tokens")
		}
		return err
	})
	return cmd
}

func newTokenRevoke(s cli.Streams) *cobra.Command {
	var id int64
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke a token, at once",
		Long:    "Revoke a token: it is not valid any more, at once, and neither are the sessions that were begun with it.",
		Example: `  shadowcourt serve token revoke --help`,
		Args:    cli.ExactArgs(1, "the ID of a token"),
		PreRunE: func(_ *cobra.Command, args []string) error {
			var err error
			if id, err = strconv.ParseInt(args[0], 10, 64); err != nil {
				return cli.InputError(fmt.Errorf("%q is no ID of a token: `shadowcourt serve token list` shows them", args[0]))
			}
			return nil
		},
	}
	opened(cmd, func(ctx context.Context, db *store.Store, args []string) error {
		err := db.RevokeToken(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			err = cli.InputError(fmt.Errorf("there is no token %d, or it was revoked before: `shadowcourt serve token list` shows them", id))
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Out, "token %d is revoked\n", id)
		return db.Log(ctx, store.Action{Author: localAuthor, Action: "token.revoke", Target: "token " + args[0]})
	})
	return cmd
}
