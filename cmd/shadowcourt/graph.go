package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// shippedPipeline is the name under which the embedded pipeline can be given
// in place of a file.
const shippedPipeline = "defect-court"

// shippedLight is the embedded Light path, by the same way of naming.
const shippedLight = "rca-investigation"

// loadPipeline reads a pipeline file, or the embedded one by its name.
func loadPipeline(path string) (*pipeline.Definition, error) {
	if path == shippedPipeline || path == shippedLight || path == shippedAudit {
		def, err := pipeline.LoadFS(pipelines.FS, path+".yaml")
		if err != nil {
			return nil, fmt.Errorf("the shipped pipeline: %w", err)
		}
		return def, nil
	}
	def, err := pipeline.Load(path)
	return def, inputError(err)
}

func newGraph(s stdio) *cobra.Command {
	var format string
	var path []string
	cmd := &cobra.Command{
		Use:   "graph PIPELINE",
		Short: "Draw a pipeline",
		Long: `Draw a pipeline file, or the embedded ` + shippedPipeline + ` or ` + shippedLight + `, as Mermaid, DOT or SVG.
With --path a walked path, as it stands in a result, is drawn on it.`,
		Example: "  shadowcourt graph defect-court --format mermaid\n" +
			"  shadowcourt graph defect-court --format svg --path indict,discover,defend,HD4:hearing,HD5:verdict,HD7:_done",
		Args: exactArgs(1, "one pipeline"),
		RunE: func(_ *cobra.Command, args []string) error {
			def, err := loadPipeline(args[0])
			if err != nil {
				return err
			}
			return drawGraph(s.out, def, format, path)
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid, dot or svg")
	cmd.Flags().StringSliceVar(&path, "path", nil, "a walked path to draw")
	return cmd
}

func drawGraph(w io.Writer, def *pipeline.Definition, format string, path []string) error {
	graph, err := pipeline.NewGraph(def)
	if err != nil {
		return inputError(err)
	}
	moves, err := graph.ParsePath(path)
	if err != nil {
		return inputError(fmt.Errorf("--path: %w", err))
	}
	walked := pipeline.Picture{Walk: moves}
	var picture string
	switch format {
	case "mermaid":
		picture = pipeline.Mermaid(graph, walked)
	case "dot":
		picture = pipeline.DOT(graph, walked)
	case "svg":
		picture = pipeline.SVG(graph, walked)
	default:
		return inputError(fmt.Errorf("--format %q: use mermaid, dot or svg", format))
	}
	_, err = io.WriteString(w, picture)
	return err
}

func newLint(s stdio) *cobra.Command {
	var modules string
	cmd := &cobra.Command{
		Use:   "lint PIPELINE...",
		Short: "Check pipeline files",
		Long: `Check pipeline files, and that the modules that they name are there and serve what is
asked of them: nodes, evaluators, calls. Faults, and what is legal but looks wrong, are
listed with file, line and column. Exit code 2 when a file has a fault, 0 with warnings
only.`,
		Example: "  shadowcourt lint defect-court\n" +
			"  shadowcourt lint pipelines/defect-court.yaml --modules host/bundle/dist",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return inputError(fmt.Errorf("lint takes one or more pipelines; see `%s --help`", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			from, err := moduleFS(modules)
			if modules == "" && errors.Is(err, bundle.ErrNotBuilt) {
				fmt.Fprintln(s.err, "no modules are built into this program, so that the pipelines' are not looked at; give --modules")
			} else if err != nil {
				return err
			}
			faulty := false
			for _, path := range args {
				ok, err := lint(s.out, path, from, modules == "")
				if err != nil {
					return err
				}
				faulty = faulty || !ok
			}
			if faulty {
				return &exitError{code: exitInput}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&modules, "modules", "", "folder with the modules that the pipeline names (default: the embedded modules)")
	return cmd
}

// lint checks one pipeline, against its modules if there are any, and says whether it has no
// fault. The error is none of the pipeline's.
func lint(w io.Writer, path string, modules fs.FS, embedded bool) (ok bool, err error) {
	def, err := loadPipeline(path)
	if err != nil {
		fmt.Fprintln(w, inertBlock(err.Error()))
		return false, nil
	}
	var faults pipeline.Errors
	if modules != nil {
		err = host.CheckModules(def, modules)
	}
	if !errors.As(err, &faults) && err != nil {
		return false, err
	}
	for _, fault := range faults {
		if embedded && fault.Code == "missing_module" {
			fault.Message += " among the embedded ones; give --modules"
		}
		fmt.Fprintln(w, inertBlock(fault.Error()))
	}
	warnings := pipeline.Lint(def)
	for _, warning := range warnings {
		fmt.Fprintln(w, "warning:", inertBlock(warning.Error()))
	}
	if len(faults)+len(warnings) == 0 {
		fmt.Fprintf(w, "%s: ok, %d nodes, %d edges, %d zones, %s\n", inertLine(path), len(def.Nodes), len(def.Edges), len(def.Zones),
			count(len(def.Modules()), "module", "modules"))
	}
	return len(faults) == 0, nil
}
