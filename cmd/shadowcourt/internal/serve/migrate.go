package serve

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
)

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
