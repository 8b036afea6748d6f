package plugin

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
)

func newPluginExport(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "export DIR",
		Short: "Write the embedded modules into a folder",
		Long: `Write the embedded modules into a folder, as NAME.wasm. With modules of your own beside
them, or in the place of some, it is a folder for --modules. A run that watches the folder takes
all of them at once.`,
		Example: "  shadowcourt plugin export modules",
		Args:    cli.ExactArgs(1, "one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			modules, err := bundle.FS()
			if err != nil {
				return err
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return cli.InputError(err)
			}
			d, err := moduledir.Open(args[0])
			if err != nil {
				return cli.InputError(err)
			}
			unlock, err := d.Lock()
			if err != nil {
				return err
			}
			defer unlock()
			files := map[string][]byte{}
			err = open.EachModule(modules, func(name string, wasm []byte) error {
				files[name] = wasm
				return nil
			})
			if err != nil {
				return err
			}
			changes, err := d.Put(files)
			if err != nil {
				return err
			}
			for _, c := range changes {
				if _, err := fmt.Fprintln(s.Out, filepath.Join(args[0], c.Name+".wasm")); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
