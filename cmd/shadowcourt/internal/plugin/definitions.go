package plugin

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi/schema"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/trust"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// lockOptions are the flags of `lock`.
type lockOptions struct {
	trust                   open.Trust
	rubric, modules, output string
}

// newLock is the command `lock`.
func newLock(s cli.Streams) *cobra.Command {
	o := &lockOptions{}
	cmd := &cobra.Command{
		Use:   "lock PIPELINE|RUBRIC",
		Short: "Pin the modules of a pipeline or rubric by their digests",
		Long: `Fetch what a pipeline or rubric names by references, each after the trust policy has accepted
it, and write shadowcourt.lock beside it, with the digests of all its modules, and of those of the
Light path and of rules. Commands that open the pipeline then take what is pinned of references,
whatever their tags are moved to, and with --locked they reject modules that are not pinned or have
other digests. Run it again to take what the tags stand for now. What the file pins of other
pipelines stays.`,
		Example: "  shadowcourt lock court.yaml",
		Args:    cli.ExactArgs(1, "one pipeline or rubric"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	f := cmd.Flags()
	o.trust.PolicyFlag(f)
	f.StringVar(&o.rubric, "rubric", "", "also pin the modules of audits by a rubric")
	f.StringVar(&o.modules, "modules", "", "folder with NAME.wasm files (default: the embedded modules)")
	f.StringVar(&o.output, "output", "", "where to write (default: shadowcourt.lock beside the pipeline)")
	return cmd
}

func (o *lockOptions) run(ctx context.Context, s cli.Streams, file string) error {
	defs, rubric, err := o.definitions(file)
	if err != nil {
		return cli.InputError(err)
	}
	var modules fs.FS
	if o.modules != "" {
		if modules, err = open.Modules(o.modules); err != nil {
			return err
		}
	}
	o.trust.Unpinned = true
	fetched, err := o.trust.Fetch(ctx, file, modules, rubric, defs...)
	if err != nil {
		return err
	}
	output := o.output
	if output == "" {
		output = open.LockFile(file)
	}
	pinned, err := trust.FindLock(output)
	if err != nil {
		return cli.InputError(err)
	}
	if pinned == nil {
		pinned = &trust.Lock{}
	}
	if err := fetched.Lock(pinned, rubric, defs...); err != nil {
		return err
	}
	text, err := pinned.Bytes()
	if err != nil {
		return err
	}
	if err := disk.Replace(output, text); err != nil {
		return cli.FileError(err)
	}
	for i := range pinned.Modules {
		m := &pinned.Modules[i]
		if _, err := fmt.Fprintf(s.Out, "%s  %s\n", m.Digest, sanitize.Line(m.Name)); err != nil {
			return err
		}
	}
	return nil
}

// definitions are those whose modules are pinned: the pipeline with what runs beside it, or the audit of a rubric.
func (o *lockOptions) definitions(file string) (defs []*pipeline.Definition, rubric *audit.Rubric, err error) {
	names := []string{file, open.ShippedLight}
	if data, err := open.ReadBounded(file, audit.MaxFileBytes+1); err == nil && audit.IsRubric(data) && o.rubric == "" {
		names, o.rubric = nil, file
	}
	if o.rubric != "" {
		names = append(names, open.ShippedAudit)
		if rubric, err = open.Rubric(o.rubric); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range names {
		def, err := open.Pipeline(name)
		if err != nil {
			return nil, nil, err
		}
		defs = append(defs, def)
	}
	rules, err := pipeline.LoadFS(pipelines.FS, pipelines.Rules)
	return append(defs, rules), rubric, err
}

// Definitions are the commands about files of definitions: graph, lint, lock and schema.
func Definitions(s cli.Streams) []*cobra.Command {
	return []*cobra.Command{newGraph(s), newLint(s), newLock(s), newSchema(s)}
}

// newGraph is the command `graph`.
func newGraph(s cli.Streams) *cobra.Command {
	var format string
	var path []string
	cmd := &cobra.Command{
		Use:   "graph PIPELINE",
		Short: "Draw a pipeline",
		Long: `Draw a pipeline file, or the embedded ` + open.ShippedPipeline + ` or ` + open.ShippedLight + `, as a Mermaid flowchart,
which GitHub and GitLab render in Markdown. With --path, the path of a result is drawn on it.`,
		Example: "  shadowcourt graph defect-court\n" +
			"  shadowcourt graph defect-court --path indict,discover,defend,HD4:hearing,HD5:verdict,HD7:_done",
		Args: cli.ExactArgs(1, "one pipeline"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch format {
			case "mermaid":
			case "dot", "svg":
				return cli.InputError(fmt.Errorf("--format %q is no longer written: use mermaid, and Mermaid's own tools (mmdc) where you need a picture", format))
			default:
				return cli.InputError(fmt.Errorf("--format %q: use mermaid", format))
			}
			def, err := open.Pipeline(args[0])
			if err != nil {
				return err
			}
			return drawGraph(s.Out, def, path)
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid")
	cmd.Flags().StringSliceVar(&path, "path", nil, "the path of a result, to draw")
	return cmd
}

func drawGraph(w io.Writer, def *pipeline.Definition, path []string) error {
	graph, err := pipeline.NewGraph(def)
	if err != nil {
		return cli.InputError(err)
	}
	moves, err := graph.ParsePath(path)
	if err != nil {
		return cli.InputError(fmt.Errorf("--path: %w", err))
	}
	_, err = io.WriteString(w, pipeline.Mermaid(graph, moves))
	return err
}

// otherSchemas are those that are not of the contract, by name.
var otherSchemas = map[string]func() []byte{"rubric": audit.Schema, "answers": answers.Schema}

// newSchema is the command `schema`.
func newSchema(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [ARTIFACT]",
		Short: "Print the JSON Schema of an artifact, of a rubric or of answers, or list the names",
		Long: `Print the JSON Schema (draft 2020-12) of an artifact of the contract, of the file of a
rubric, or of the answers that alibi writes as JSON; without a name, list the names. The
schemas are necessary, not sufficient: rules across fields and across artifacts stand in
abi/SPEC.md, those of rubrics in docs/measuring.md.`,
		Example: "  shadowcourt pipeline schema verdict",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.InputError(fmt.Errorf("schema takes one artifact or none; see `%s --help`", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				names := slices.Sorted(slices.Values(slices.AppendSeq(schema.Names(), maps.Keys(otherSchemas))))
				_, err := fmt.Fprintln(s.Out, strings.Join(names, "\n"))
				return err
			}
			text, ok := schema.Get(args[0])
			if other := otherSchemas[args[0]]; other != nil {
				text, ok = other(), true
			}
			if !ok {
				return cli.InputError(fmt.Errorf("there is no artifact %q; `shadowcourt pipeline schema` lists them", args[0]))
			}
			_, err := s.Out.Write(text)
			return err
		},
	}
}
