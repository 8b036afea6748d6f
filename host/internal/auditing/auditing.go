package auditing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/internal/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/quotes"
)

// maxRounds of a node of judges: the first, and one more after a dissent.
const maxRounds = 2

// Config of an Audit.
type Config struct {
	// Logger gets one record for each rejected artifact. Default: none.
	Logger *slog.Logger
	// Arrange says for tests in which order the results of n branches are
	// merged, in place of that in which they come. Optional.
	Arrange func(n int) []int
}

// Audit audits opinions by one graph and one rubric. It is safe for concurrent use.
type Audit struct {
	graph     *pipeline.Graph
	rubric    *audit.Rubric
	scored    map[string][]*audit.Criterion // by judge
	weighings []audit.Weighing              // of the rubric's criteria
	log       *slog.Logger
	arrange   func(n int) []int
}

// New checks that the graph is one of an audit.
func New(graph *pipeline.Graph, rubric *audit.Rubric, config Config) (*Audit, error) {
	def := graph.Definition()
	var faults []error
	count := make(map[pipeline.Family]int)
	for i := range def.Nodes {
		n := &def.Nodes[i]
		count[n.Family]++
		switch n.Family {
		case pipeline.FamilyCollect:
			if len(n.Personas) == 0 {
				faults = append(faults, fmt.Errorf("node %q names nobody who collects", n.Name))
			}
		case pipeline.FamilyJudge, pipeline.FamilySynthesize, pipeline.FamilyConclude:
			if len(n.Personas) > 0 {
				faults = append(faults, fmt.Errorf("node %q names personas: at a node of the family %s the rubric says who acts", n.Name, n.Family))
			}
			if n.Rounds > maxRounds {
				faults = append(faults, fmt.Errorf("node %q has %d rounds: judges are asked %d times at most", n.Name, n.Rounds, maxRounds))
			}
		default:
			faults = append(faults, fmt.Errorf("node %q is of the family %s, which has no part in an audit", n.Name, n.Family))
		}
	}
	for _, family := range []pipeline.Family{pipeline.FamilyJudge, pipeline.FamilySynthesize, pipeline.FamilyConclude} {
		if count[family] != 1 {
			faults = append(faults, fmt.Errorf("an audit has one node of the family %s, this pipeline has %d", family, count[family]))
		}
	}
	for i := range rubric.Judges {
		if _, taken := def.Persona(rubric.Judges[i].ID); taken {
			faults = append(faults, fmt.Errorf("the judge %q has the name of a persona of the pipeline", rubric.Judges[i].ID))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	log := config.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Audit{
		graph: graph, rubric: rubric, scored: rubric.Scored(), weighings: rubric.Weighings(), log: log, arrange: config.Arrange,
	}, nil
}

// Modules plays one audit, and is used by its goroutine alone. What no branch
// asks, as edges are, it answers itself.
type Modules interface {
	invoker.Modules
	// Fork gives the modules of a branch, by the name of the persona or the judge.
	// Branches are forked in the order of the pipeline or the rubric, and then run
	// at the same time. The trail of Modules is told of a merge after each node,
	// when all of its branches have ended.
	Fork(who string) invoker.JudgeModules
}

// Try audits one opinion. Errors are those of the caller's context, of a subject that
// is rejected (*abi.ValidationError), and faults of the graph; whatever a module
// does is in the outcome.
func (a *Audit) Try(ctx context.Context, subject *audit.Subject, modules Modules) (*audit.Outcome, error) {
	if err := check(subject); err != nil {
		return nil, err
	}
	names := foreignTo(subject)
	t := &runner{
		audit: a, modules: modules, own: invoker.Invoker{Modules: modules, Log: a.log}, subject: subject, names: names,
		documents:  slices.Concat([]abi.Document{{Name: opinionName, Text: subject.Opinion.Text}}, names.documents(subject)),
		caseQuotes: quotes.Of(subject.Documents), dissents: make(map[string]string),
		out: &audit.Outcome{
			Rubric: a.rubric.Name, CaseID: subject.Opinion.CaseID, CourtName: subject.Opinion.CourtName, Modules: a.digests(modules),
		},
	}
	t.quotes = quotes.Of(t.documents)
	t.watch()
	var cancel context.CancelFunc
	t.calls, cancel = context.WithTimeout(ctx, a.graph.Definition().Court.TTL)
	defer cancel()
	if err := t.begin(); err != nil {
		return nil, err
	}
	outcome, err := traverse.New(a.graph, t, t, traverse.Config{}).Run(ctx)
	if err != nil {
		return nil, err
	}
	t.out.Path = outcome.Path()
	t.out.State = t.state.Snapshot()
	if t.out.State.Report == nil {
		return nil, fmt.Errorf("the traversal of %s ended at %s without a report", a.graph.Definition().Pipeline, outcome.End)
	}
	t.out.Report, t.out.Errors = *t.out.State.Report, t.out.State.Errors
	return t.out, nil
}

// check checks a subject against the rules that its types don't state.
func check(s *audit.Subject) error {
	var c abi.Collector
	if s.Opinion.Text == "" {
		c.Add(abi.CodeEmpty, "is empty", abi.Field("opinion"), abi.Field("text"))
	}
	for i := range s.Documents {
		name := s.Documents[i].Name
		if slices.ContainsFunc(s.Documents[:i], func(d abi.Document) bool { return d.Name == name }) {
			c.Add(abi.CodeDuplicateName, "a document of this name stands before", abi.Field("documents"), abi.Index(i), abi.Field("name"))
		}
	}
	return c.Err()
}

// digests maps collectors and judges to the digests of their modules.
func (a *Audit) digests(modules invoker.Modules) map[string]string {
	m := make(map[string]string)
	def := a.graph.Definition()
	for i := range def.Personas {
		m[def.Personas[i].ID] = modules.Digest(def.Personas[i].Module)
	}
	for i := range a.rubric.Judges {
		m[a.rubric.Judges[i].ID] = modules.Digest(a.rubric.Judges[i].Module)
	}
	return m
}
