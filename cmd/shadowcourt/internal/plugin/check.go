package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// checkOptions are the flags of `plugin check`.
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
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.InputError(fmt.Errorf("%s takes files or the names of embedded modules; see `%s --help`", cmd.Name(), cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args) },
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

// check reports all faults of the flags at once.
func (o *checkOptions) check() (conformance.Options, error) {
	options := conformance.Options{Seed: o.seed, Cases: o.cases, Now: time.Now}
	var faults []error
	if o.cases < 1 {
		faults = append(faults, fmt.Errorf("--cases %d: use one or more", o.cases))
	}
	if len(o.roles) > 0 {
		roles, err := abitest.ParseRoles(o.roles)
		if err != nil {
			faults = append(faults, fmt.Errorf("--role: %w", err))
		}
		options.Roles = &roles
	}
	if o.cache != "none" {
		options.CacheDir = o.cache
	}
	return options, cli.InputError(errors.Join(faults...))
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
	options, err := o.check()
	if err != nil {
		return err
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

// one validates one module.
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

// printChecked tells people what was found of a module.
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
