package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/alibi/investigate"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// Alibi says how the tool alibi runs tests. That agents may have tests run is the operator's to grant.
type Alibi struct {
	// Lab are the limits of runs; its Budget is the default of one call, and the most that an agent may ask for.
	Lab experiment.Config
	// Host is what the court is opened on.
	Host host.Config
	// Open opens the court. Default: [alibi.Open].
	Open func(ctx context.Context, config host.Config, maxFalse float64) (*alibi.Court, error)
	// Base is the default base. Empty: [investigate.AutoBase].
	Base string
	// Variable gives the value of an environment variable, and Now is a clock.
	Variable func(string) string
	Now      func() time.Time
}

// maxFailures is how many failures of a report are tried.
const maxFailures = 100

const alibiDescription = `Prove whether this change made tests fail, before you say so: give the path of the report of a failing run. The tests are run again on this
tree, on the base of the change and in other environments, in scratch copies; the checkout is not changed. Verdicts: "yours" (caused: the
change causes the failure; conflict: its merge with target fails), "not yours" (preexisting: it fails on the base in the same way; flaky:
it passes and fails by chance; environment: something outside of both trees makes it fail), or "open": nothing is proven, so don't call it
preexisting or flaky. The answer comes after minutes rather than seconds.`

type alibiInput struct {
	Report  string `json:"report" jsonschema:"path of the report of a failing run (go test -json, JUnit XML), within the folders that the server may read"`
	Source  string `json:"source,omitempty" jsonschema:"path of the folder of the project; default the server's first folder"`
	Base    string `json:"base,omitempty" jsonschema:"git revision that the change began at, or auto; default auto, unless the server has one"`
	Target  string `json:"target,omitempty" jsonschema:"git revision that the change will be merged into: then conflicts are found, too"`
	Culprit bool   `json:"culprit,omitempty" jsonschema:"find the commit that each failure of yours began with"`
	Budget  int    `json:"budget_seconds,omitempty" jsonschema:"how long builds and runs may take together, in seconds; the search for commits may take as long again"`
}

func (s *Server) alibi(ctx context.Context, r *sdk.CallToolRequest, in alibiInput) (*sdk.CallToolResult, alibiOutput, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)() //nolint:contextcheck // the end of the server ends the request, too
	if !s.beginCall() {
		return nil, alibiOutput{}, errEnds
	}
	defer s.trials.Done()
	a := &asking{config: s.config.Alibi}
	failures, err := a.prepare(ctx, s.config.Roots, &in)
	if err != nil {
		return nil, alibiOutput{}, inert(err)
	}
	a.progress = notify(ctx, r, len(failures))
	defer a.progress.close()
	if len(failures) > 0 {
		a.progress.step("waiting for its turn and reading the trees")
		select { // tests that compete for the machine tell less
		case s.asking <- struct{}{}:
			defer func() { <-s.asking }()
		case <-ctx.Done():
			return nil, alibiOutput{}, ctx.Err()
		}
		err = a.ask(ctx, failures, in.Culprit)
	}
	if err = errors.Join(ctx.Err(), err); err != nil {
		return nil, alibiOutput{}, inert(err)
	}
	out := a.output()
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: out.text()}}}, out, nil
}

// beginCall has Close wait for a call, which leaves temporary folders otherwise. It is false once the server ends.
func (s *Server) beginCall() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.trials.Add(1)
	return true
}

// asking is a call of the tool.
type asking struct {
	config   *Alibi
	progress *progress
	change   investigate.Change
	budget   time.Duration
	answers  []*alibi.Answer
	faults   []string
	untried  int // failures beyond maxFailures
}

// prepare checks what an agent asks, and reads the failures.
func (a *asking) prepare(ctx context.Context, roots *Roots, in *alibiInput) ([]docket.Entry, error) {
	if a.config == nil {
		return nil, errors.New("the operator does not let agents run tests: start the server with --source DIR --experiments all to allow it")
	}
	most := int(a.config.Lab.Budget / time.Second)
	if in.Budget < 0 || in.Budget > most {
		return nil, fmt.Errorf("budget_seconds %d: use 1 to %d", in.Budget, most)
	}
	a.budget = a.config.Lab.Budget
	if in.Budget > 0 {
		a.budget = time.Duration(in.Budget) * time.Second
	}
	base := in.Base
	if base == "" {
		base = a.config.Base
	}
	if base == "" {
		base = investigate.AutoBase
	}
	for _, revision := range []string{base, in.Target} {
		if len(revision) > maxRevisionBytes || strings.HasPrefix(revision, "-") {
			return nil, fmt.Errorf("%.40q is no revision", revision)
		}
	}
	dir, err := roots.source(in.Source)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	failures, err := a.read(ctx, roots, in.Report)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	a.change, err = investigate.FindChange(ctx, dir, base, in.Target, a.config.Variable)
	return failures, err
}

// maxRevisionBytes limits the name of a revision.
const maxRevisionBytes = 256

// read reads the failures of a report.
func (a *asking) read(ctx context.Context, roots *Roots, name string) ([]docket.Entry, error) {
	inputs, err := roots.docket(ctx, name, run.Auto)
	if err != nil {
		return nil, err
	}
	defer inputs.Close()
	var list []docket.Entry
	var repeated alibi.Repeated
	for entry, err := range inputs.Entries("") {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			a.faults = append(a.faults, err.Error())
		case repeated.Has(&entry):
		case len(list) == maxFailures:
			a.untried++
		default:
			list = append(list, entry)
		}
	}
	return list, nil
}

// ask asks the court of every failure.
func (a *asking) ask(ctx context.Context, failures []docket.Entry, search bool) error {
	lab := a.config.Lab
	lab.Budget, lab.PerCase = a.budget, min(lab.PerCase, a.budget)
	lab.Progress = a.progress.runs
	i, err := investigate.Open(ctx, investigate.Config{Change: a.change, Lab: lab, Host: a.config.Host, Culprit: search, Open: a.config.Open, Now: a.config.Now})
	if err != nil {
		return err
	}
	defer func() { _ = i.Close(ctx) }()
	if i.Lacking != "" {
		a.faults = append(a.faults, i.Lacking)
	}
	left := a.budget // of the search
	for asked := range i.Court.Ask(ctx, docket.Each(failures), 0) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		began := a.config.Now()
		a.hear(ctx, i, &asked, min(lab.PerCase, left))
		left -= a.config.Now().Sub(began)
		a.progress.answered()
	}
	return ctx.Err()
}

// hear takes an answer, and looks for the commit that a failure began with, and for the tests that it fails after, while there is time.
func (a *asking) hear(ctx context.Context, i *investigate.Investigation, asked *alibi.Asked, left time.Duration) {
	if asked.Err != nil {
		a.faults = append(a.faults, asked.Err.Error())
		return
	}
	answer := asked.Answer
	a.answers = append(a.answers, answer)
	if left <= 0 {
		return
	}
	var err error
	if answer.Culprit, err = i.Find(ctx, &asked.Trial.Case, answer, left, a.progress.search); err != nil {
		a.faults = append(a.faults, fmt.Sprintf("culprit of %s: %v", answer.ID, err))
	}
	if err = i.Order(ctx, &asked.Trial.Case, answer); err != nil {
		a.faults = append(a.faults, fmt.Sprintf("order of %s: %v", answer.ID, err))
	}
}
