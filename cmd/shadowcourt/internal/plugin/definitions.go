package plugin

import (
	"cmp"
	"context"
	"errors"
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
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/trust"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

type lockOptions struct {
	trust                   open.Trust
	rubric, modules, output string
}

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
	output := cmp.Or(o.output, open.LockFile(file))
	pinned, err := trust.FindLock(output)
	if err != nil {
		return cli.InputError(err)
	}
	pinned = cmp.Or(pinned, &trust.Lock{})
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

func (o *lockOptions) definitions(file string) (defs []*pipeline.Definition, rubric *audit.Rubric, err error) {
	names := []string{file, open.ShippedLight}
	if data, err := disk.ReadBounded(file, audit.MaxFileBytes+1); err == nil && audit.IsRubric(data) && o.rubric == "" {
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
			graph, err := pipeline.NewGraph(def)
			if err != nil {
				return cli.InputError(err)
			}
			moves, err := graph.ParsePath(path)
			if err != nil {
				return cli.InputError(fmt.Errorf("--path: %w", err))
			}
			_, err = io.WriteString(s.Out, pipeline.Mermaid(graph, moves))
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid")
	cmd.Flags().StringSliceVar(&path, "path", nil, "the path of a result, to draw")
	return cmd
}

// otherSchemas are those that are not of the contract, by name.
var otherSchemas = map[string]func() []byte{"rubric": audit.Schema, "answers": answers.Schema}

func newSchema(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [ARTIFACT]",
		Short: "Print the JSON Schema of an artifact, of a rubric or of answers, or list the names",
		Long: `Print the JSON Schema (draft 2020-12) of an artifact of the contract, of the file of a
rubric, or of the answers that alibi writes as JSON; without a name, list the names. The
schemas are necessary, not sufficient: rules across fields and across artifacts stand in
abi/SPEC.md, those of rubrics in docs/measuring.md.`,
		Example: "  shadowcourt pipeline schema verdict",
		Args:    cli.ArgsWithin(0, 1, "one artifact or none"),
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

func newLint(s cli.Streams) *cobra.Command {
	var modules, cache string
	var trust open.Trust
	cmd := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Check files of pipelines and rubrics",
		Long: `Check pipelines and rubrics, which are told apart by their key at the top, and that the
modules that they name are there and serve what is asked of them: nodes, evaluators, calls,
criteria, and the parameters of nodes and edges, which the modules are asked about. Faults, and what is legal but looks wrong, are listed with file, line and column.
A judge that --modules does not have is the embedded one, as in an audit. Exit code 2 when
a file has a fault, 0 with warnings only.`,
		Example: "  shadowcourt lint defect-court court-opinions\n" +
			"  shadowcourt lint pipelines/defect-court.yaml --modules bin/modules",
		Args: cli.ArgsWithin(1, cli.AnyNumber, "one or more pipelines or rubrics"),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := open.Modules(modules)
			if modules == "" && errors.Is(err, bundle.ErrNotBuilt) {
				fmt.Fprintln(s.Err, "no modules are built into this program, so that those that the files name are not looked at; give --modules")
			} else if err != nil {
				return err
			}
			l := &linter{out: s.Out, modules: from, embedded: modules == "", cache: cache, trust: trust}
			faulty := false
			for _, path := range args {
				ok, err := l.lint(cmd.Context(), path)
				if err != nil {
					return err
				}
				faulty = faulty || !ok
			}
			if faulty {
				return &cli.ExitError{Code: cli.ExitInput}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&modules, "modules", "", "folder with the modules that the files name (default: the embedded modules)")
	trust.Flags(cmd)
	open.CacheFlag(cmd.Flags(), &cache, "folder for compiled modules, or none")
	return cmd
}

// linter checks files against modules, if there are any.
type linter struct {
	out      io.Writer
	modules  fs.FS // nil: none are built in
	embedded bool  // modules are those that are built in
	cache    string
	trust    open.Trust // by which what the files name by references is fetched
}

// lint checks one file, and says whether it has no fault. The error is none of the file's. The file is read once, since it may be a pipe.
func (l *linter) lint(ctx context.Context, path string) (ok bool, err error) {
	switch {
	case path == open.ShippedRubric:
		r, err := open.Rubric(path)
		return l.rubric(ctx, path, r, err)
	case open.IsShipped(path):
		def, err := open.Pipeline(path)
		return l.pipeline(ctx, path, def, err)
	}
	data, err := disk.ReadBounded(path, max(pipeline.MaxFileBytes, audit.MaxFileBytes)+1)
	switch {
	case err != nil:
		def, err := open.Pipeline(path) // says it in its own words
		return l.pipeline(ctx, path, def, err)
	case audit.IsRubric(data):
		r, err := audit.Parse(path, data)
		return l.rubric(ctx, path, r, err)
	}
	def, err := pipeline.LoadBytes(path, data)
	return l.pipeline(ctx, path, def, err)
}

func (l *linter) pipeline(ctx context.Context, path string, def *pipeline.Definition, err error) (ok bool, _ error) {
	if err != nil {
		return l.reject(err), nil
	}
	if l.modules != nil {
		modules, fault := l.fetch(ctx, path, nil, def)
		if fault != nil {
			return l.reject(fault), nil
		}
		if err = module.CheckPipeline(ctx, def, modules); err == nil {
			err = module.CheckParams(ctx, def, modules, l.cache)
		}
	}
	return l.report(path, err, l.unpinned(path, def), fmt.Sprintf("%d nodes, %d edges, %d zones, %s",
		len(def.Nodes), len(def.Edges), len(def.Zones), cli.Count(len(def.Modules()), "module", "modules")))
}

// fetch gives the modules with what a file names by references.
func (l *linter) fetch(ctx context.Context, path string, r *audit.Rubric, defs ...*pipeline.Definition) (fs.FS, error) {
	var own fs.FS
	if !l.embedded {
		own = l.modules
	}
	fetched, err := l.trust.Fetch(ctx, path, own, r, defs...)
	if err != nil || fetched.Modules == nil {
		return l.modules, err
	}
	return fetched.Modules, nil
}

// unpinned are the warnings of a pipeline, without those of references that its lock file pins.
func (l *linter) unpinned(path string, def *pipeline.Definition) pipeline.Errors {
	pinned, err := trust.FindLock(open.LockFile(path))
	warnings := pipeline.Lint(def)
	if err != nil || pinned == nil {
		return warnings
	}
	of := make(map[string]bool)
	for _, u := range open.Uses(nil, def) {
		of[u.At] = pinned.Module(u.Reference) != nil
	}
	return slices.DeleteFunc(warnings, func(w *pipeline.Error) bool {
		return w.Code == pipeline.WarnUnpinned && of[fmt.Sprintf("%s:%d:%d: %s", w.File, w.Line, w.Column, w.Path)]
	})
}

func (l *linter) rubric(ctx context.Context, path string, r *audit.Rubric, err error) (ok bool, _ error) {
	if err != nil {
		return l.reject(err), nil
	}
	if l.modules != nil {
		modules, fetchErr := l.fetch(ctx, path, r)
		if fetchErr != nil {
			return l.reject(fetchErr), nil
		}
		err = module.CheckRubric(ctx, r, l.judges(modules))
	}
	return l.report(path, err, audit.Lint(r), fmt.Sprintf("%s, %s, %s",
		cli.Count(len(r.Criteria), "criterion", "criteria"), cli.Count(len(r.Judges), "judge", "judges"), cli.Count(len(r.Modules()), "module", "modules")))
}

// judges are the modules that an audit would take.
func (l *linter) judges(modules fs.FS) fs.FS {
	if all, err := open.WithEmbedded(modules); err == nil && !l.embedded {
		return all
	}
	return modules
}

func (l *linter) reject(err error) (ok bool) {
	fmt.Fprintln(l.out, sanitize.Block(err.Error()))
	return false
}

// report prints the faults of a file's modules, the warnings, or what the file has.
func (l *linter) report(path string, err error, warnings pipeline.Errors, has string) (ok bool, _ error) {
	var faults pipeline.Errors
	if !errors.As(err, &faults) && err != nil {
		return false, err
	}
	for _, fault := range faults {
		if l.embedded && fault.Code == "missing_module" {
			fault.Message += " among the embedded ones; give --modules"
		}
		fmt.Fprintln(l.out, sanitize.Block(fault.Error()))
	}
	for _, warning := range warnings {
		fmt.Fprintln(l.out, "warning:", sanitize.Block(warning.Error()))
	}
	if len(faults)+len(warnings) == 0 {
		fmt.Fprintf(l.out, "%s: ok, %s\n", sanitize.Line(path), has)
	}
	return len(faults) == 0, nil
}
