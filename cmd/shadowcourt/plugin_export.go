package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/outfile"
)

func newPluginExport(s stdio) *cobra.Command {
	return &cobra.Command{
		Use:   "export DIR",
		Short: "Write the embedded modules into a folder",
		Long: `Write the embedded modules into a folder, as NAME.wasm. With modules of your own beside
them, or in the place of some, it is a folder for --modules.`,
		Example: "  shadowcourt plugin export modules",
		Args:    exactArgs(1, "one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			modules, err := host.EmbeddedModules()
			if err != nil {
				return err
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return inputError(err)
			}
			return eachModule(modules, func(name string, wasm []byte) error {
				path := filepath.Join(args[0], name+".wasm")
				if err := outfile.Replace(path, wasm); err != nil {
					return err
				}
				_, err := fmt.Fprintln(s.out, path)
				return err
			})
		},
	}
}
