package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// database are the flags that name one.
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

// newMigrate is the command `serve migrate`.
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
