package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

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
