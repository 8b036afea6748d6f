package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

type database struct{ data, url string }

func (d *database) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&d.data, "data", "", "folder of the SQLite file (default: shadowcourt in the user's data folder)")
	f.StringVar(&d.url, "database", "", "postgres://... in place of the SQLite file (default: the variable "+databaseVariable+")")
}

// opened has a command open the database, which must be there.
func opened(cmd *cobra.Command, do func(ctx context.Context, db *store.Store, args []string) error) {
	var d database
	d.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		db, err := d.open(cmd.Context(), slog.New(slog.DiscardHandler), mustExist)
		if err != nil {
			return err
		}
		defer db.Close()
		return do(cmd.Context(), db, args)
	}
}

// databaseVariable has the URL of the database, whose password need not be in the command line.
const databaseVariable = "SHADOWCOURT_DATABASE"

// named says whether the flags or the variable name a server.
func (d *database) named() bool {
	return d.url != "" || d.data == "" && os.Getenv(databaseVariable) != ""
}

// Whether a SQLite file that is not there is made.
const (
	makeMissing = true
	mustExist   = false
)

// name is what store.Open takes.
func (d *database) name(create bool) (string, error) {
	if d.url == "" && d.data == "" {
		d.url = os.Getenv(databaseVariable)
	}
	switch {
	case d.url != "" && d.data != "":
		return "", errors.New("--data and --database exclude each other")
	case d.url != "" && !store.IsPostgres(d.url):
		return "", errors.New("--database takes a postgres:// URL; for a SQLite file use --data DIR")
	case d.url != "":
		return d.url, nil
	}
	if d.data == "" {
		dir, err := wire.DataFolder()
		if err != nil {
			return "", fmt.Errorf("there is no folder for data (%w): use --data DIR", err)
		}
		d.data = dir
	}
	file := filepath.Join(d.data, "shadowcourt.db")
	if create {
		if err := disk.MakeFolder(d.data, 0o700); err != nil {
			return "", fmt.Errorf("--data: %w", err)
		}
	} else if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no database in %s: `shadowcourt serve` and `shadowcourt serve migrate` make one; use the same --data or --database", d.data)
	}
	return file, nil
}

// openRaw connects without a look at the tables.
func (d *database) openRaw(ctx context.Context, log *slog.Logger, create bool) (*store.Store, error) {
	name, err := d.name(create)
	if err != nil {
		return nil, cli.InputError(err)
	}
	return store.Open(ctx, store.Config{Database: name, Now: time.Now, Logger: log})
}

// open connects, and checks the tables; those of a SQLite file are brought up to date.
func (d *database) open(ctx context.Context, log *slog.Logger, create bool) (*store.Store, error) {
	db, err := d.openRaw(ctx, log, create)
	if err != nil {
		return nil, err
	}
	if d.url == "" {
		_, err = db.Migrate(ctx)
	} else {
		err = db.CheckSchema(ctx)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func newMigrate(s cli.Streams) *cobra.Command {
	var d database
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the tables of the service's database up to date",
		Long: `Bring the tables of the service's database up to date, those of the queue included. It does
nothing where they are. Make a backup first; a newer program's tables are not for an older one.`,
		Example: `  shadowcourt serve migrate --data court`,
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			db, err := d.openRaw(cmd.Context(), slog.New(slog.DiscardHandler), makeMissing)
			if err != nil {
				return err
			}
			defer db.Close()
			done, err := db.Migrate(cmd.Context())
			for _, name := range done {
				fmt.Fprintf(s.Out, "migrated: %s\n", name)
			}
			if err == nil && len(done) == 0 {
				fmt.Fprintln(s.Out, "the tables are up to date")
			}
			return err
		},
	}
	d.flags(cmd)
	return cmd
}

// units are those of --keep: nanoseconds for ages, bytes for sizes.
var units = []struct {
	name string
	age  time.Duration
	size int64
}{{name: "d", age: 24 * time.Hour}, {name: "h", age: time.Hour}, {name: "MB", size: 1e6}, {name: "GB", size: 1e9}, {name: "TB", size: 1e12}}

// keepOf is what --keep says: an age, a size, or both.
func keepOf(list []string) (keep store.Keep, err error) {
	var faults []error
	for _, text := range list {
		if !addKeep(&keep, strings.TrimSpace(text)) {
			faults = append(faults, fmt.Errorf("--keep %q: use an age (90d, 12h) or a size (500MB, 20GB, 1TB), each once and above 0", text))
		}
	}
	return keep, errors.Join(faults...)
}

func addKeep(keep *store.Keep, text string) bool {
	for _, unit := range units {
		digits, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		each := max(int64(unit.age), unit.size)
		switch {
		case err != nil || n <= 0 || n > math.MaxInt64/each:
			return false
		case unit.age > 0 && keep.Age == 0:
			keep.Age = time.Duration(n) * unit.age
			return true
		case unit.size > 0 && keep.Bytes == 0:
			keep.Bytes = n * unit.size
			return true
		}
		return false
	}
	return false
}

// localAuthor is who does something by the command line.
const localAuthor = "command line"

func newToken(s cli.Streams) *cobra.Command {
	cmd := cli.Parent("token", "Make, list and revoke tokens of the service", newTokenAdd(s), newTokenRevoke(s), newTokenList(s))
	cmd.Long = cmd.Short + ", in its database."
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
