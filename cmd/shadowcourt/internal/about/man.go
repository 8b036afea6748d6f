package about

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// NewMan is the command `man`.
func NewMan(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the man pages into a folder",
		Long: `Write a man page for each command into DIR, which is created if it is not there:
shadowcourt.1, shadowcourt-try.1 and so on. Read one with "man DIR/shadowcourt.1".`,
		Example: "  shadowcourt man man/man1",
		Args:    cli.ExactArgs(1, "the folder to write into"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return cli.InputError(err)
			}
			for _, c := range append(cli.Commands(cmd.Root()), cmd.Root()) {
				var page strings.Builder
				cli.Man(&page, c)
				name := filepath.Join(args[0], cli.ManName(c)+".1")
				if err := disk.Replace(name, []byte(page.String())); err != nil {
					return cli.FileError(err)
				}
				fmt.Fprintln(s.Out, name)
			}
			return nil
		},
	}
}
