package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// NewCache is the command `cache`.
func NewCache(s cli.Streams) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Show the folders for compiled modules and results of experiments, or clear them",
		Long: `Show where compiled modules and results of experiments are kept and what they take. Of more than
` + mebibytes(module.MaxCacheBytes) + ` of modules those go that were used longest ago.
Results of experiments lie in the folder experiments beside that of the modules: in shadowcourt/experiments
in your cache folder, or in dir/experiments with --cache dir/modules. They count for a day.`,
		Example: "  shadowcourt cache",
		Args:    cli.NoSuchCommand,
		RunE: func(*cobra.Command, []string) error {
			results, use, ran, err := inCaches(dir, module.MeasureCache, disk.MeasureCache)
			if err != nil {
				return err
			}
			fmt.Fprintf(s.Out, "%s: %s, %s of at most %s\n", sanitize.Line(dir), cli.Count(use.Entries, "module", "modules"), mebibytes(use.Bytes), mebibytes(module.MaxCacheBytes))
			fmt.Fprintf(s.Out, "%s: %s of experiments, %s\n", sanitize.Line(results), cli.Count(ran.Answers, "result", "results"), mebibytes(ran.Bytes))
			return nil
		},
	}
	empty := &cobra.Command{
		Use:     "clear",
		Short:   "Remove all compiled modules and results of experiments",
		Long:    "Remove all compiled modules and results of experiments. They are made again when they are needed.",
		Example: "  shadowcourt cache clear --cache other/modules",
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			results, use, ran, err := inCaches(dir, module.ClearCache, disk.ClearCache)
			if err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "%s: removed %s, %s\n", sanitize.Line(dir), cli.Count(use.Entries, "module", "modules"), mebibytes(use.Bytes))
			fmt.Fprintf(s.Err, "%s: removed %s of experiments, %s\n", sanitize.Line(results), cli.Count(ran.Answers, "result", "results"), mebibytes(ran.Bytes))
			return nil
		},
	}
	cmd.AddCommand(empty)
	open.CacheFlag(cmd.PersistentFlags(), &dir, "folder for compiled modules")
	return cmd
}

// inCaches does something in the folder for compiled modules, and in the one for results beside it.
func inCaches(dir string, modules func(string) (module.CacheUsage, error), results func(string) (disk.CacheUse, error)) (beside string, use module.CacheUsage, ran disk.CacheUse, err error) {
	if dir == "" {
		return "", use, ran, cli.InputError(errors.New("--cache: name a folder; there is none by default for this user"))
	}
	beside = open.ExperimentCache(dir)
	if use, err = modules(dir); err == nil {
		ran, err = results(beside)
	}
	return beside, use, ran, err
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20) }
