// Package plugin is the command about modules, with its subcommands.
package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// New is the command `plugin`.
func New(s cli.Streams) *cobra.Command {
	cmd := cli.Parent("plugin", "Write, inspect, measure, swap, sign and publish modules",
		newPluginNew(s), newPluginAnnotate(s), newPluginCheck(s), newPluginBench(s), newPluginExport(s), newPluginSwap(s), newPluginRollback(s),
		newPluginPush(s), newPluginPull(s), newPluginCopy(s), newPluginVerify(s), newPluginInspect(s))
	cmd.AddCommand(
		cli.Removed("diff", "`plugin inspect` shows what each version asks for, and `plugin verify` what the trust policy decides"),
		cli.Removed("list", "`shadowcourt version` lists the embedded modules, and `plugin inspect` describes a module"),
		cli.Removed("publish", "use `plugin push --reproducible DIR REF`"),
		cli.Removed("search", "look in the registry's own catalog, and run `plugin inspect REF`"),
		cli.Removed("sign", "use `plugin pull REF --output FILE` and `plugin push FILE REF --key KEY`, which adds the signature"),
	)
	return cmd
}

func newPluginInspect(s cli.Streams) *cobra.Command {
	var form format
	var pipelineFile string
	var own open.Trust
	cmd := &cobra.Command{
		Use:   "inspect FILE|NAME|REF",
		Short: "Show what a module is, without running it",
		Long: `Show the manifest, imports, exports, size and digests of a .wasm file, or of an embedded
module by its name, and which of the capabilities that it asks for the pipelines would
grant. Nothing of the module is compiled or run: ` + "`plugin check`" + ` does that.

Of a reference (oci://... or oci-layout:...) show what the registry says, and what the trust
policy decides about each role that the module can play. The module is not downloaded.`,
		Example: "  shadowcourt plugin inspect challenger\n  shadowcourt plugin inspect oci-layout:layout:clerk",
		Args:    cli.ExactArgs(1, "one file, the name of an embedded module, or a reference"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if moduleref.Is(args[0]) {
				if pipelineFile != "" {
					return cli.InputError(errors.New("--pipeline needs the module: `shadowcourt plugin pull` downloads it"))
				}
				return runInspectRef(cmd.Context(), s, args[0], form, &own)
			}
			wasm, err := open.Module(args[0])
			if err != nil {
				return err
			}
			info, err := module.Inspect(wasm)
			if err != nil {
				return cli.InputError(fmt.Errorf("%s: %w", args[0], err))
			}
			granted, err := grantsOf(info, pipelineFile)
			if err != nil {
				return err
			}
			if form == "json" {
				return printInfoJSON(s, info, granted)
			}
			printInfo(s, info, granted)
			return nil
		},
	}
	form.flag(cmd.Flags())
	own.PolicyFlag(cmd.Flags())
	cmd.Flags().StringVar(&pipelineFile, "pipeline", "", "pipeline whose grants are looked at (default: the shipped ones)")
	return cmd
}

func printInfo(s cli.Streams, info *module.Info, granted map[abi.Capability][]string) {
	line := func(key, value string) { fmt.Fprintf(s.Out, "%-13s %s\n", key, sanitize.Log(cmp.Or(value, "none"))) }
	if m := info.Manifest; m != nil {
		manifestOf(m).show(line)
		line("granted", grantLine(m.Capabilities, granted))
	} else if info.ManifestError != nil {
		line("manifest", "cannot be read: "+sanitize.Line(info.ManifestError.Error()))
	} else {
		line("manifest", "none; write one with `shadowcourt plugin annotate`")
	}
	line("binding", info.Binding)
	line("size", fmt.Sprintf("%d bytes", info.Size))
	line("digest", info.Digest)
	line("code digest", info.CodeDigest)
	line("exports", sanitize.Line(strings.Join(info.Exports, " ")))
	line("imports", sanitize.Line(strings.Join(info.Imports, " ")))
}

func printInfoJSON(s cli.Streams, info *module.Info, granted map[abi.Capability][]string) error {
	out := struct {
		*module.Info
		Manifest *manifestJSON               `json:"manifest"`
		Error    *string                     `json:"manifest_error,omitempty"`
		Granted  map[abi.Capability][]string `json:"granted"`
	}{Info: info, Granted: granted}
	if m := info.Manifest; m != nil {
		out.Manifest = manifestOf(m)
	}
	if info.ManifestError != nil {
		text := info.ManifestError.Error()
		out.Error = &text
	}
	return writeJSON(s, out)
}

func newPluginAnnotate(s cli.Streams) *cobra.Command {
	var manifest, output string
	cmd := &cobra.Command{
		Use:   "annotate FILE --manifest MANIFEST.yaml",
		Short: "Write a manifest into a module",
		Long: `Write a manifest, given as YAML, into the custom section of a .wasm file. A manifest that
the file has already is replaced; the code stays as it is, and so does its code digest.
Of the lists only calls must be there: families, edges, criteria and capabilities are empty
when they are left out. A manifest that no module may have (a name that occurs twice, families
without node calls, ...) is rejected; ` + "`plugin check`" + ` compares it with the file.`,
		Example: "  shadowcourt plugin annotate bin/modules/challenger.wasm \\\n" +
			"    --manifest plugins/challenger/manifest.yaml --output challenger.wasm",
		Args: cli.ExactArgs(1, "one .wasm file"),
		RunE: func(_ *cobra.Command, args []string) error {
			wasm, err := open.File(args[0])
			if err != nil {
				return cli.InputError(err)
			}
			text, err := open.File(manifest)
			if err != nil {
				return cli.InputError(fmt.Errorf("--manifest: %w", err))
			}
			annotated, err := module.Annotate(wasm, manifest, text)
			if err != nil {
				return cli.InputError(err)
			}
			output = cmp.Or(output, args[0])
			if err := disk.Replace(output, annotated); err != nil {
				return err
			}
			fmt.Fprintf(s.Err, "%s: %d bytes\n", sanitize.Line(output), len(annotated))
			return nil
		},
	}
	cmd.Flags().StringVar(&manifest, "manifest", "manifest.yaml", "the manifest, as YAML")
	cmd.Flags().StringVar(&output, "output", "", "where to write (default: FILE itself)")
	return cmd
}

// grantsOf says of each capability that a module asks for which pipelines would grant it: the shipped ones, or the one that is named.
func grantsOf(info *module.Info, file string) (map[abi.Capability][]string, error) {
	if info.Manifest == nil {
		return map[abi.Capability][]string{}, nil
	}
	files := []string{pipelines.DefectCourt, pipelines.RCAInvestigation}
	var defs []*pipeline.Definition
	if file != "" {
		def, err := open.Pipeline(file)
		if err != nil {
			return nil, err
		}
		defs, files = append(defs, def), nil
	}
	for _, name := range files {
		def, err := pipeline.LoadFS(pipelines.FS, name)
		if err != nil {
			return nil, err
		}
		defs = append(defs, def)
	}
	return module.Granted(info.Manifest.Name, info.Manifest.Capabilities, defs...), nil
}

func grantLine(asked []abi.Capability, granted map[abi.Capability][]string) string {
	var parts []string
	for _, capability := range asked {
		if by := granted[capability]; len(by) > 0 {
			parts = append(parts, string(capability)+" (by "+strings.Join(by, ", ")+")")
		} else {
			parts = append(parts, string(capability)+" by nobody: `grants: ["+string(capability)+"]` of its persona would")
		}
	}
	return sanitize.Line(strings.Join(parts, "; "))
}

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
			names, err := fs.Glob(modules, "*.wasm")
			files := map[string][]byte{}
			for _, name := range names {
				wasm, failed := fs.ReadFile(modules, name)
				files[strings.TrimSuffix(name, ".wasm")], err = wasm, errors.Join(err, failed)
			}
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

type checkOptions struct {
	roles       []string
	cases       int
	seed        uint64
	format      format
	cache, save string
}

func newPluginCheck(s cli.Streams) *cobra.Command {
	o := &checkOptions{}
	cmd := &cobra.Command{
		Use:   "check FILE|NAME...",
		Short: "Validate modules against the contract",
		Long: `Validate modules, in whatever language they are written, against abi/SPEC.md: that
they load, that their manifest is true, that they answer plain, random, huge, changed and
malformed requests of every role that they promise as the contract says, and the same
request with the same bytes and the same fuel. Each failure names the clause that it breaks.

Embedded modules go by their name. A module that has no manifest yet is tried in the roles
that --role names: a family (indict, ..., report), contest, edge:RULE, criterion:ID.
--save-failures DIR saves the failing requests; ` + "`plugin bench --request`" + ` sends one again.

Exit code 0: all pass. 1: a module breaks the contract. 2: a file could not be read, or the
command line is wrong.`,
		Example: "  shadowcourt plugin check clerk --cases 50",
		Args:    cli.ArgsWithin(1, cli.AnyNumber, "files or the names of embedded modules"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.roles, "role", nil, "what to ask of a module without a manifest: FAMILY, contest, edge:RULE, criterion:ID")
	f.IntVar(&o.cases, "cases", abitest.DefaultCases, "random cases, each put to every role")
	f.Uint64Var(&o.seed, "seed", 0, "of the random cases; the same one makes the same cases")
	o.format.flag(f)
	f.StringVar(&o.save, "save-failures", "", "folder for the requests that were failed at")
	open.CacheFlag(f, &o.cache, "folder for compiled modules, or none")
	return cmd
}

// checked is a module and what was found.
type checked struct {
	Module string `json:"module"`
	Passed bool   `json:"passed"`
	*abitest.Report
	// Saved are the files of the failures.
	Saved []string `json:"saved,omitempty"`
}

func (o *checkOptions) run(ctx context.Context, s cli.Streams, names []string) error {
	options := conformance.Options{Seed: o.seed, Cases: o.cases, Now: time.Now, CacheDir: o.cache}
	fault := cli.Fault(o.cases < 1, "--cases %d: use one or more", o.cases)
	if len(o.roles) > 0 {
		roles, err := abitest.ParseRoles(o.roles)
		options.Roles, fault = &roles, errors.Join(fault, cli.Fault(err != nil, "--role: %w", err))
	}
	if fault != nil {
		return cli.InputError(fault)
	}
	var reports []checked
	var unread []error
	broken := 0
	for _, name := range names {
		c, err := o.one(ctx, s, name, options)
		if exit := (*cli.ExitError)(nil); errors.As(err, &exit) && exit.Code == cli.ExitInput {
			unread = append(unread, exit.Err)
			continue
		}
		if err != nil {
			return err
		}
		if !c.Passed {
			broken++
		}
		if o.format == "table" {
			if err := printChecked(s, &c, len(reports) > 0); err != nil {
				return err
			}
		}
		reports = append(reports, c)
	}
	if o.format == "json" {
		if err := writeJSON(s, append([]checked{}, reports...)); err != nil {
			return err
		}
	}
	var failure error
	if broken > 0 {
		failure = fmt.Errorf("%s the contract", cli.Count(broken, "module breaks", "modules break"))
	}
	if len(unread) > 0 {
		return cli.InputError(errors.Join(append(unread, failure)...))
	}
	return failure
}

func (o *checkOptions) one(ctx context.Context, s cli.Streams, name string, options conformance.Options) (checked, error) {
	wasm, err := open.Module(name)
	if err != nil {
		return checked{}, err
	}
	c, err := test(ctx, s, name, wasm, options)
	if err == nil && o.save != "" {
		c.Saved, err = saveFailures(o.save, &c)
	}
	return c, err
}

// test runs the conformance kit on a module. name is for messages.
func test(ctx context.Context, s cli.Streams, name string, wasm []byte, options conformance.Options) (checked, error) {
	p := cli.NewProgress(s.Err)
	shown := ""
	options.Progress = func(what string, done, of int) {
		// A line for each percent: thousands of calls a second would only flicker.
		if text := fmt.Sprintf("%s: %s, %d%%", sanitize.Line(name), what, 100*done/max(of, 1)); text != shown {
			p.Say(text)
			shown = text
		}
	}
	report, err := conformance.Run(ctx, wasm, options)
	p.Clear()
	if err != nil {
		if ctx.Err() != nil {
			return checked{}, ctx.Err()
		}
		return checked{}, fmt.Errorf("%s: %w", name, err)
	}
	return checked{Module: name, Passed: report.Passed(), Report: report}, nil
}

func printChecked(s cli.Streams, c *checked, more bool) error {
	var b bytes.Buffer
	if more {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s  %s  %d bytes\n", sanitize.Line(c.Module), shortDigest(c.Digest), c.Size)
	if len(c.Roles) > 0 {
		fmt.Fprintf(&b, "serves %s\n", sanitize.Line(strings.Join(c.Roles, " ")))
	}
	group, skipped := "", 0
	for i := range c.Checks {
		r := &c.Checks[i]
		if r.Status == abitest.Skipped {
			skipped++
			continue
		}
		if r.Group != group {
			group = r.Group
			fmt.Fprintf(&b, "\n%s\n", group)
		}
		printResult(&b, r)
	}
	if skipped > 0 {
		fmt.Fprintf(&b, "\n%s tried.\n", untried(c, skipped))
	}
	if len(c.Notes) > 0 {
		b.WriteString("\nNotes\n")
		for _, n := range c.Notes {
			fmt.Fprintf(&b, "    %-6s %s\n", n.Clause, oneLineOf(n.Text))
		}
	}
	if c.Calls > 0 {
		fmt.Fprintf(&b, "\n%d calls, %d random cases of seed %d. The most expensive call: %d units of fuel (%s). The longest request: %d bytes. The longest response: %d bytes.\n",
			c.Calls, c.Cases, c.Seed, c.Most.Fuel, sanitize.Line(c.Most.FuelInput), c.Most.RequestBytes, c.Most.ResponseBytes)
	}
	for _, name := range c.Saved {
		fmt.Fprintf(&b, "saved %s\n", sanitize.Line(name))
	}
	b.WriteString(summary(c))
	_, err := s.Out.Write(b.Bytes())
	return err
}

// untried says what becomes of the checks that were not tried.
func untried(c *checked, skipped int) string {
	if len(c.Failed()) == 0 {
		var titles []string
		for i := range c.Checks {
			if r := &c.Checks[i]; r.Status == abitest.Skipped {
				titles = append(titles, r.Clause+" "+r.Title)
			}
		}
		return strings.Join(titles, "; ") + ": could not be"
	}
	return "Mend what failed; then " + cli.Count(skipped, "more check is", "more checks are")
}

// printResult is a line for a check, and some more for one that failed.
func printResult(b *bytes.Buffer, r *abitest.Result) {
	if r.Status == abitest.Passed {
		fmt.Fprintf(b, "  ✓ %-6s %s\n", r.Clause, r.Title)
		return
	}
	fmt.Fprintf(b, "  ✗ %-6s %s (%s)\n", r.Clause, r.Title, r.ID)
	for _, f := range r.Failures {
		b.WriteString("           " + oneLineOf(strings.TrimPrefix(f.Input+": ", ": ")+f.Detail) + "\n")
		if f.Stderr != "" {
			b.WriteString("           its standard error: " + oneLineOf(f.Stderr) + "\n")
		}
	}
	if more := r.Broken - len(r.Failures); more > 0 {
		fmt.Fprintf(b, "           and %d more: %d failures in %d tries\n", more, r.Broken, r.Tried)
	}
}

// maxDetail keeps a report readable where a module says much.
const maxDetail = 400

func oneLineOf(text string) string {
	text = sanitize.Line(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
	if runes := []rune(text); len(runes) > maxDetail {
		text = string(runes[:maxDetail]) + "..."
	}
	return text
}

// summary says how it ends, in a line.
func summary(c *checked) string {
	if c.Passed {
		return "It keeps the contract.\n"
	}
	var clauses []string
	for _, r := range c.Failed() {
		if !slices.Contains(clauses, r.Clause) {
			clauses = append(clauses, r.Clause)
		}
	}
	if len(clauses) == 0 {
		return "Nothing failed, and not everything could be tried.\n"
	}
	return "It breaks " + strings.Join(clauses, ", ") + " of abi/SPEC.md.\n"
}

func shortDigest(digest string) string { return digest[:min(len(digest), len("sha256:")+12)] }

// savedFailure says what a request in a file is, beside it.
type savedFailure struct {
	Module  string          `json:"module"`
	Digest  string          `json:"digest"`
	Check   abitest.CheckID `json:"check"`
	Clause  string          `json:"clause"`
	Input   string          `json:"input"`
	Call    string          `json:"call"`
	Detail  string          `json:"detail"`
	Seed    uint64          `json:"seed"`
	Request string          `json:"request"`
	Again   string          `json:"again"`
}

// saveFailures writes the requests that a module failed at, and what each is.
func saveFailures(dir string, c *checked) ([]string, error) {
	var saved []string
	for _, r := range c.Failed() {
		for i, f := range r.Failures {
			if f.Call == "" {
				continue // about the file itself
			}
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return saved, err
			}
			base := strings.TrimSuffix(filepath.Base(c.Module), ".wasm")
			name := filepath.Join(dir, fmt.Sprintf("%s-%s-%s-%d", base, shortDigest(c.Digest)[len("sha256:"):], r.ID, i+1))
			about := savedFailure{
				Module: c.Module, Digest: c.Digest, Check: r.ID, Clause: r.Clause, Input: f.Input, Call: string(f.Call), Detail: f.Detail, Seed: c.Seed,
				Request: name + ".msgpack",
				Again:   fmt.Sprintf("shadowcourt plugin bench %s --call %s --request %s --time 1ms", c.Module, f.Call, name+".msgpack"),
			}
			if r.ID == abitest.CheckPrepared { // the request alone says nothing
				about.Again = fmt.Sprintf("shadowcourt plugin check %s --seed %d --cases %d", c.Module, c.Seed, c.Cases)
			}
			text, err := json.MarshalIndent(about, "", "  ")
			if err != nil {
				return saved, err
			}
			if err := disk.Replace(name+".msgpack", f.Request); err != nil {
				return saved, err
			}
			if err := disk.Replace(name+".json", append(text, '\n')); err != nil {
				return saved, err
			}
			saved = append(saved, name+".msgpack")
		}
	}
	return saved, nil
}

type benchOptions struct {
	request, call, cache string
	format               format
	time                 time.Duration
}

// benchCalls are the kinds of calls that --call may name.
var benchCalls = []abi.Call{abi.CallNode, abi.CallContest, abi.CallEdges, abi.CallJudge} //nolint:gochecknoglobals // a constant

func newPluginBench(s cli.Streams) *cobra.Command {
	o := &benchOptions{}
	cmd := &cobra.Command{
		Use:   "bench FILE|NAME",
		Short: "Measure the calls of a module",
		Long: `Measure what a call of a module takes: without resetting the instance (the lower bound);
with each way of resetting it that this machine has; and without fuel, or with wazero's own
interruption instead. Requests are small valid ones of each kind that the manifest
promises, or one of yours. Some calls have no limit: measure only modules that end.

All ways of resetting give the same bytes; trials use the first one.`,
		Example: "  shadowcourt plugin bench clerk --time 20ms",
		Args:    cli.ExactArgs(1, "one file or the name of an embedded module"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.request, "request", "", "file with the msgpack of a request to send (default: generated ones)")
	f.StringVar(&o.call, "call", string(abi.CallNode), "kind of call that --request is for: "+cli.OrList(cli.Words(benchCalls)))
	f.DurationVar(&o.time, "time", 200*time.Millisecond, "time for each figure")
	o.format.flag(f)
	open.CacheFlag(f, &o.cache, "folder for compiled modules, or none")
	return cmd
}

func (o *benchOptions) run(ctx context.Context, s cli.Streams, name string) error {
	err := errors.Join(cli.OneOf("--call", o.call, cli.Words(benchCalls)...), cli.Fault(o.time <= 0, "--time %s: use a positive duration", o.time))
	if err != nil {
		return cli.InputError(err)
	}
	wasm, err := open.Module(name)
	if err != nil {
		return err
	}
	p := cli.NewProgress(s.Err)
	options := module.Options{
		Call: abi.Call(o.call), Time: o.time, Now: time.Now, CacheDir: o.cache,
		Progress: func(what string, done, of int) { p.Say(fmt.Sprintf("%s, %d of %d", what, done+1, of)) },
	}
	if o.request != "" {
		if options.Request, err = open.File(o.request); err != nil {
			return cli.InputError(fmt.Errorf("--request: %w", err))
		}
	}
	report, err := module.Run(ctx, wasm, options)
	p.Clear()
	if err != nil {
		return cli.OrInterrupted(ctx, cli.InputError(fmt.Errorf("%s: %w", name, err)))
	}
	if err := o.print(s, report); err != nil {
		return err
	}
	failed := 0
	for i := range report.Requests {
		if report.Requests[i].Error != "" {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s failed", cli.Count(failed, "request", "requests"))
	}
	return nil
}

func (o *benchOptions) print(s cli.Streams, report *module.Report) error {
	if o.format == "json" {
		return writeJSON(s, report)
	}
	for i := range report.Requests {
		if i > 0 {
			fmt.Fprintln(s.Out)
		}
		if err := printBench(s, &report.Requests[i]); err != nil {
			return err
		}
	}
	return nil
}

func printBench(s cli.Streams, r *module.Request) error {
	if r.Error != "" {
		_, err := fmt.Fprintf(s.Out, "%s: request %d bytes; failed: %s\n", r.Name, r.RequestBytes, sanitize.Line(r.Error))
		return err
	}
	fmt.Fprintf(s.Out, "%s: request %d bytes, response %d bytes, fuel %d\n", r.Name, r.RequestBytes, r.ResponseBytes, r.Fuel)
	if r.Answer != "ok" {
		fmt.Fprintf(s.Out, "note: the answer is %s\n", sanitize.Line(strings.ReplaceAll(r.Answer, "\n", "; ")))
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"call", "median", "p99", "ratio", "allocs"})
	var right []table.ColumnConfig
	for column := 2; column <= 5; column++ {
		right = append(right, table.ColumnConfig{Number: column, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, f := range r.Figures {
		t.AppendRow(table.Row{
			f.Name, micros(f.MedianNanos), micros(f.P99Nanos),
			fmt.Sprintf("%.2f", float64(f.MedianNanos)/float64(max(r.Figures[0].MedianNanos, 1))), fmt.Sprintf("%.1f", f.Allocs),
		})
	}
	_, err := fmt.Fprintln(s.Out, t.Render())
	return err
}

func micros(nanos int64) string { return fmt.Sprintf("%.1f µs", float64(nanos)/1e3) }
