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
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
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

// operations are those of the API, for whoever has the database.
func operations(ctx context.Context, db *store.Store) (context.Context, *api.Operations) {
	ctx = auth.With(ctx, &auth.Identity{Submitter: localAuthor, Name: localAuthor, Scopes: auth.AllScopes()})
	return ctx, api.New(api.Config{Store: db, Now: time.Now, Random: rand.Reader})
}

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
			if strings.TrimSpace(args[0]) == "" || days < 0 || days > api.MaxTokenDays || slices.Contains(repositories, "") {
				return cli.InputError(fmt.Errorf("use names that are not empty, and --days from 0 to %d", api.MaxTokenDays))
			}
			return nil
		},
	}
	opened(cmd, func(ctx context.Context, db *store.Store, args []string) error {
		ctx, can := operations(ctx, db)
		added, err := can.AddToken(ctx, &api.AddTokenRequest{Name: args[0], Submitter: submitter, Scopes: auth.Words(list), Repositories: repositories, Days: days})
		if _, ok := errors.AsType[*wire.Problem](err); ok {
			err = cli.InputError(err)
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(s.Out, added.Secret)
		fmt.Fprintf(s.Err, "token %d is shown once; `shadowcourt serve token revoke %d` with the same --data or --database ends it\n", added.ID, added.ID)
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
		Example: `  shadowcourt serve token revoke 1 --data court`,
		Args:    cli.ExactArgs(1, "the ID of a token"),
		PreRunE: func(_ *cobra.Command, args []string) error {
			var err error
			if id, err = strconv.ParseInt(args[0], 10, 64); err != nil {
				return cli.InputError(fmt.Errorf("%q is no ID of a token: `shadowcourt serve token list` shows them", args[0]))
			}
			return nil
		},
	}
	opened(cmd, func(ctx context.Context, db *store.Store, _ []string) error {
		ctx, can := operations(ctx, db)
		err := can.RevokeToken(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			err = cli.InputError(fmt.Errorf("there is no token %d, or it was revoked before: `shadowcourt serve token list` shows them", id))
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Out, "token %d is revoked\n", id)
		return nil
	})
	return cmd
}
