package alibi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/alibi/investigate"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/repo"
)

// output is where answers go: the main output and the reports, which appear at the end.
type output struct {
	render.AnswerWriter
	trees   render.AnswerTrees
	reports []render.AnswerWriter
	files   disk.Set
	done    bool
}

// openReports begins the reports, so that a bad name is told before anything runs.
func (o *options) openReports(c *investigate.Change) (*output, error) {
	out := &output{trees: render.AnswerTrees{Base: c.Base.Commit, Why: c.Base.Why, Head: c.Head, Court: o.otherCourt(), Link: publish.RunOf(os.Getenv).Link, Time: time.Now(), Partial: &render.PartialAnswers{}}}
	if o.maxFalse != alibi.MaxFalse {
		out.trees.MaxFalse = o.maxFalse
	}
	if o.base == c.Base.Why { // else it is what is said of it
		out.trees.Name, out.trees.Why = o.base, ""
	}
	for _, said := range o.reports {
		form, name := reportOf(said)
		f, err := out.files.Create(name)
		if err != nil {
			out.discard()
			return nil, fmt.Errorf("--report: %w", err)
		}
		out.reports = append(out.reports, render.NewAnswerForm(form, f, out.trees))
	}
	out.AnswerWriter = render.NewAnswerOutput(out.reports...)
	return out, nil
}

// otherCourt names the court and its judge where it is not the shipped one; else it is empty.
func (o *options) otherCourt() string {
	if o.Pipeline == open.ShippedAlibi && o.Profile == open.ShippedAlibi && o.Modules == "" {
		return ""
	}
	said := []string{o.Pipeline}
	if o.Profile != open.ShippedAlibi {
		said = append(said, "profile "+o.Profile)
	}
	def, err := open.Pipeline(o.Pipeline)
	modules, otherErr := open.Modules(o.Modules)
	if err == nil && otherErr == nil { // else the court does not open either
		for _, name := range judges(def) {
			judge := "judge " + name
			if wasm, err := fs.ReadFile(modules, name+".wasm"); err == nil {
				judge += " (sha256 " + record.DigestOf(wasm).Hex() + ")"
			}
			said = append(said, judge)
		}
	}
	return strings.Join(said, ", ")
}

// judges are the modules that play the verdict.
func judges(def *pipeline.Definition) (modules []string) {
	for i := range def.Nodes {
		n := &def.Nodes[i]
		for j := range def.Personas {
			if p := &def.Personas[j]; n.Family == abi.FamilyVerdict && slices.Contains(n.Personas, p.ID) {
				modules = append(modules, p.Module)
				if p.Fallback != "" {
					modules = append(modules, p.Fallback)
				}
			}
		}
	}
	return modules
}

// reportOf reads the value of --report: the form, which is empty where none is known, and the file.
func reportOf(said string) (form, name string) {
	if form, name, named := strings.Cut(said, "="); named && slices.Contains(render.AnswerForms(), form) {
		return form, name
	}
	return render.FormOf(said), said
}

// begin begins the main output.
func (out *output) begin(o *options, s cli.Streams, failures []docket.Entry) {
	out.AnswerWriter = render.NewAnswerOutput(append(out.reports, o.main(s.Out, out.trees, failures))...)
}

func (o *options) main(w io.Writer, t render.AnswerTrees, failures []docket.Entry) render.AnswerWriter {
	if len(o.reports) > 0 {
		w = &cli.UntilGone{W: w}
	}
	switch {
	case o.format == "jsonl":
		return render.NewAnswerJSONL(w, t)
	case o.format != "table":
		return render.NewAnswerForm(o.format, w, t)
	case o.explain != "":
		return render.NewAnswerExplanations(w, t, cli.Terminal(w))
	}
	var names []string
	for i := range failures {
		c := &failures[i].Case
		names = append(names, alibi.NameOf(c.ID, c.Group))
	}
	return render.NewAnswerTable(w, t, names, cli.Terminal(w))
}

// end writes what comes last, and puts the reports in their places.
func (out *output) end() error {
	if err := out.Close(); err != nil {
		return err
	}
	out.done = true
	return out.files.Commit()
}

// discard removes reports that were not ended.
func (out *output) discard() {
	if !out.done {
		out.files.Discard()
	}
}

// checkOutputs checks the flags of the outputs.
func (o *options) checkOutputs(args []string) error {
	var inputs, outputs []cli.NamedFile
	for _, name := range args {
		inputs = append(inputs, cli.File("the report", name))
	}
	for _, name := range o.reports {
		_, file := reportOf(name)
		outputs = append(outputs, cli.File("--report", file))
	}
	faults := []error{cli.CheckOverwrites(inputs, outputs)}
	for _, name := range o.reports {
		if form, file := reportOf(name); strings.EqualFold(filepath.Ext(file), ".csv") && form == "" || strings.HasPrefix(name, "csv=") {
			faults = append(faults, fmt.Errorf("--report %q: CSV is not written: use JSON lines (.jsonl)", name))
		} else if form == "" {
			faults = append(faults, fmt.Errorf("--report %q: use a name that ends with .html, .md, .json, .jsonl, .sarif or .xml, or FORM=FILE with one of %s", name, cli.OrList(render.AnswerForms())))
		}
	}
	if o.explain != "" && o.format != "table" {
		faults = append(faults, errors.New("--explain is for people: leave out --format "+o.format))
	}
	return errors.Join(faults...)
}

// places finds where failures are, and who looks after them.
type places struct {
	tree   *repo.Source
	prefix string
	owners *answers.CodeOwners
}

// openPlaces reads the files' names and CODEOWNERS. What can't be read is told, and is no error: a failure without a place is one, too.
func openPlaces(ctx context.Context, stderr io.Writer, c *investigate.Change) (*places, error) {
	p := &places{prefix: c.Repository.Dir()}
	var err error
	if p.tree, err = repo.OpenSource(ctx, c.Source, ""); err != nil {
		return nil, err
	}
	if p.owners, err = answers.FindOwners(c.Repository.Top()); err != nil {
		fmt.Fprintf(stderr, "warning: CODEOWNERS: %s\n", sanitize.Line(err.Error()))
	}
	return p, nil
}

// of is the place of a failure.
func (p *places) of(t *trial.Trial, test, message string) answers.Place {
	named, _ := junit.Named(&t.Case)
	f := repo.Failing{Group: t.Case.Group, Test: test, File: named.File, Texts: []string{message, t.FailureText()}}
	for i := range t.Case.Documents {
		f.Texts = append(f.Texts, t.Case.Documents[i].Text)
	}
	file, line := p.tree.PlaceOf(f)
	if file == "" {
		return answers.Place{}
	}
	file = path.Join(p.prefix, file)
	return answers.Place{File: file, Line: line, Owners: p.owners.Of(file)}
}

func (p *places) close() error { return p.tree.Close() }

// policy says which answers fail a build.
type policy []condition

// condition is met by answers of a verdict or an attribution with at least this confidence.
type condition struct {
	word  string
	least float64
}

// policyWords are what a condition may name: verdicts and attributions.
var policyWords = []string{"yours", "open", "not-yours", alibi.Caused, alibi.Conflict, alibi.Preexisting, alibi.Flaky, alibi.Environment}

// parsePolicy reads --fail-on.
func parsePolicy(list []string) (policy, error) {
	if len(list) == 1 && strings.TrimSpace(list[0]) == "none" {
		return policy{}, nil
	}
	var p policy
	var faults []error
	for _, said := range list {
		word, bound, bounded := strings.Cut(strings.TrimSpace(said), ">=")
		c := condition{word: strings.TrimSpace(word)}
		var err error
		if bounded {
			c.least, err = strconv.ParseFloat(strings.TrimSpace(bound), 64)
		}
		switch {
		case !slices.Contains(policyWords, c.word):
			faults = append(faults, fmt.Errorf("--fail-on %q: use %s, with a bound of the confidence as in yours>=0.99, or none", said, cli.OrList(policyWords)))
		case err != nil || !(c.least >= 0 && c.least <= 1):
			faults = append(faults, fmt.Errorf("--fail-on %q: the bound of a confidence is a number from 0 to 1", said))
		}
		p = append(p, c)
	}
	return p, errors.Join(faults...)
}

// fails says whether an answer fails the build.
func (p policy) fails(a *alibi.Answer) bool {
	verdict := strings.ReplaceAll(string(a.Verdict), " ", "-")
	return slices.ContainsFunc(p, func(c condition) bool {
		return (c.word == verdict || c.word == a.Label) && a.Confidence >= c.least
	})
}

// doubts names what makes answers worse: a clone that lacks commits, and a base that is a guess.
func doubts(ctx context.Context, c *investigate.Change) error {
	var faults []error
	if c.Repository.Shallow(ctx) {
		faults = append(faults, errors.New("the clone is shallow: run `git fetch --unshallow`, or check out with fetch-depth: 0"))
	}
	if c.Base.Guessed {
		faults = append(faults, fmt.Errorf("no base is known, only %s: name it with --base", c.Base.Why))
	}
	return errors.Join(faults...)
}

// notRun says why nothing of a failing test was run; empty where something was.
func notRun(a *alibi.Answer) string {
	if a.Verdict != alibi.IsOpen {
		return ""
	}
	for i := range a.Runs {
		if e := &a.Runs[i]; e.Passed+e.Same+e.Other > 0 {
			return ""
		}
	}
	return a.Why
}
