package mine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

// How often a test runs in a cell. Cells that few studies need get few runs, unless the case is hard.
const (
	manyRuns  = 20
	fewRuns   = 5
	orderRuns = 2
	// first is how many runs show how long one takes, and cellTime how long the runs of one cell may take beyond them.
	first    = 2
	cellTime = 4 * time.Second
	// caseTime is how long the cells of a case may take before further ones get their first runs alone.
	caseTime = 40 * time.Second
)

// cell is one that is to be run.
type cell struct {
	product, tests history.Role
	environment    abi.RunEnvironment
	order          abi.RunOrder
	runs           int
}

// treesOf are the cells that the truth of a case depends on: those of its trees, which get so many runs, and others where the kind needs
// them.
func treesOf(c *history.Case, runs int) []cell {
	const head, base = history.Head, history.Base
	list := []cell{{head, head, abi.OriginalEnvironment, abi.Alone, runs}, {base, base, abi.OriginalEnvironment, abi.Alone, runs}}
	if c.Kind == history.Regression && slices.Contains(c.Traps, history.OrderMatters) {
		list = append(list, inOrder(manyRuns)...)
	}
	if c.Environment.Lasting {
		list = append(list, cell{head, head, history.Restored, abi.Alone, manyRuns})
	}
	if _, ok := c.Trees[history.Merge]; ok {
		list = append(list,
			cell{history.Merge, history.Merge, abi.OriginalEnvironment, abi.Alone, manyRuns},
			cell{history.Target, history.Target, abi.OriginalEnvironment, abi.Alone, manyRuns})
	}
	return list
}

func starved(runs int) []cell {
	return []cell{
		{history.Head, history.Head, abi.StarvedEnvironment, abi.Alone, runs}, {history.Base, history.Base, abi.StarvedEnvironment, abi.Alone, runs},
	}
}

func inOrder(runs int) []cell {
	return []cell{
		{history.Head, history.Head, abi.OriginalEnvironment, abi.OriginalOrder, runs}, {history.Base, history.Base, abi.OriginalEnvironment, abi.OriginalOrder, runs},
	}
}

// othersOf are the cells of a case beside those that were run.
func othersOf(c *history.Case) []cell {
	const head, base = history.Head, history.Base
	some, order := fewRuns, orderRuns
	if len(c.Traps) > 0 {
		some, order = manyRuns, manyRuns
	}
	list := []cell{
		starved(some)[0], {head, head, abi.CleanEnvironment, abi.Alone, some}, {head, base, abi.OriginalEnvironment, abi.Alone, some},
		{base, head, abi.OriginalEnvironment, abi.Alone, some}, inOrder(order)[0],
	}
	if len(c.Traps) > 0 {
		list = append(list, starved(some)[1], cell{base, base, abi.CleanEnvironment, abi.Alone, some}, inOrder(order)[1])
	}
	return slices.DeleteFunc(list, func(k cell) bool { return c.Find(k.product, k.tests, k.environment, k.order) != nil })
}

// dropped says why a candidate is no case.
type dropped string

func (d dropped) Error() string { return string(d) }

// because puts what was tried before the reason of a dropped; other errors stay as they are.
func because(what string, err error) error {
	if why := dropped(""); errors.As(err, &why) {
		return dropped(what+": ") + why
	}
	return err
}

// sample runs a case in its cells. Its error is a dropped where the runs don't show what the case's recipe says.
func (m *Miner) sample(ctx context.Context, c *history.Case, runs int) (err error) {
	entry, err := c.Failure.Entry()
	if err != nil {
		return dropped("the report can't be read again")
	}
	if takes(&entry.Case) > longest {
		return dropped("the test takes long")
	}
	sub := m.sampler(c, &entry.Case)
	defer func() { err = errors.Join(err, sub.close()) }()
	c.Cells = ownCode(c)
	for _, k := range treesOf(c, runs) {
		if err := sub.run(ctx, k); err != nil {
			return err
		}
	}
	if _, err := history.Derive(c); err != nil {
		return dropped(err.Error())
	}
	m.traps(c)
	for _, k := range othersOf(c) {
		if err := sub.run(ctx, k); err != nil {
			return err
		}
	}
	c.Truth, err = history.Derive(c)
	if err != nil {
		return dropped(err.Error())
	}
	return nil
}

// longest is how long a test may take when it fails: in all cells together it runs a hundred times.
const longest = 2 * time.Second

func takes(c *abi.Case) time.Duration {
	if tests := gotest.TestsOf(c); len(tests) == 1 {
		return tests[0].Elapsed
	}
	test, _ := junit.Named(c)
	return test.Elapsed
}

func (m *Miner) sampler(c *history.Case, subject *abi.Case) *sampler {
	return &sampler{miner: m, subject: subject, labs: map[bool]*experiment.Lab{}, c: c, began: time.Now()}
}

// sampler runs the cells of one case: in a lab of head and base, and in one of merge and target.
type sampler struct {
	miner   *Miner
	c       *history.Case
	subject *abi.Case
	labs    map[bool]*experiment.Lab
	began   time.Time
	undo    func() error // what was planted; nil for nothing
	flags   []string     // of builds of Go, beside the usual ones
}

func (s *sampler) lab(ctx context.Context, merged bool) (*experiment.Lab, error) {
	if l := s.labs[merged]; l != nil {
		return l, nil
	}
	tree, green := s.c.Trees[history.Head], s.c.Trees[history.Base].Commit
	if merged {
		tree, green = s.c.Trees[history.Merge], s.c.Trees[history.Target].Commit
	}
	// What is installed for the tree under test stays beside the checkout, where the lab finds it.
	folder, err := s.miner.checkout(ctx, &tree)
	if err != nil {
		return nil, err
	}
	if p, ok := s.miner.suite.(planter); ok && slices.Contains(s.c.Traps, history.LoadsHead) {
		if s.undo, err = p.plantCode(folder); err != nil {
			return nil, err
		}
	}
	runner, err := experiment.LoadDefinition(s.miner.suite.name())
	if err != nil {
		return nil, err
	}
	config := experiment.Config{
		Source: folder, Commit: tree.Commit, Base: green, Mode: experiment.All, Budget: time.Hour, PerCase: time.Hour, Runners: []*experiment.Definition{runner},
	}
	if s.miner.suite.name() == "go" {
		config.Flags = append([]string{"-trimpath", "-ldflags=-w"}, s.flags...) // trees in other folders share what was compiled, and are linked fast
	}
	l, err := experiment.Open(ctx, config)
	if err == nil {
		s.labs[merged] = l
	}
	return l, err
}

func (s *sampler) close() error {
	var err error
	for _, l := range s.labs {
		err = errors.Join(err, l.Close())
	}
	if s.undo != nil {
		err = errors.Join(err, s.undo())
	}
	return err
}

func revisionOf(r history.Role) abi.TreeRevision {
	if r == history.Head || r == history.Merge {
		return abi.Head
	}
	return abi.Base
}

func (s *sampler) run(ctx context.Context, k cell) error {
	lab, err := s.lab(ctx, k.product == history.Merge || k.product == history.Target)
	if err != nil {
		return err
	}
	if k.order == abi.OriginalOrder && s.c.Failure.Runner != "go" && !slices.Contains(s.c.Traps, history.OrderMatters) {
		k.runs = min(k.runs, orderRuns) // these run all files of a folder, and not one package
	}
	sample, err := s.runs(ctx, lab, k)
	if err != nil {
		return err
	}
	out := history.Cell{Product: k.product, Tests: k.tests, Environment: k.environment, Order: k.order, Test: sample.Test, Build: seconds(sample.Build)}
	out.Why, out.Detail = sample.Outcome, firstLine(sample.Detail)
	var wall, cpu time.Duration
	looks := map[string]byte{}
	for _, o := range sample.Runs {
		wall, cpu = wall+o.Wall, cpu+o.CPU
		out.Runs += string(letter(o, looks))
	}
	out.Wall, out.CPU = seconds(wall), seconds(cpu)
	s.c.Cells = append(s.c.Cells, out)
	if s.c.Cell(k.product) == &s.c.Cells[len(s.c.Cells)-1] {
		s.c.Loads(k.product, sample.Loaded)
	}
	return nil
}

// runs makes the runs of a cell. Those of the trees themselves are all made; of the others, as many as there is time for.
func (s *sampler) runs(ctx context.Context, lab *experiment.Lab, k cell) (experiment.Sample, error) {
	e := abi.Experiment{Product: revisionOf(k.product), Tests: revisionOf(k.tests), Environment: k.environment, Order: k.order, Runs: k.runs}
	if k.product == k.tests && k.environment == abi.OriginalEnvironment && k.order == abi.Alone {
		return s.draw(ctx, lab, e)
	}
	e.Runs = min(first, k.runs)
	sample, err := s.draw(ctx, lab, e)
	e.Runs = affordable(&sample, k.runs) - len(sample.Runs)
	if err != nil || sample.Outcome != "" || e.Runs <= 0 || time.Since(s.began) > caseTime {
		return sample, err
	}
	more, err := s.draw(ctx, lab, e)
	sample.Runs = append(sample.Runs, more.Runs...)
	return sample, err
}

// affordable is how many runs of a cell there is time for, by those that were made.
func affordable(sample *experiment.Sample, wanted int) int {
	var wall time.Duration
	for _, o := range sample.Runs {
		wall += o.Wall
	}
	n := len(sample.Runs)
	if n == 0 || wall <= 0 {
		return wanted
	}
	return min(wanted, n+int(cellTime*time.Duration(n)/wall))
}

// draw samples a cell, in the environment that the case has.
func (s *sampler) draw(ctx context.Context, lab *experiment.Lab, e abi.Experiment) (sample experiment.Sample, err error) {
	if e.Environment == history.Restored {
		e.Environment = abi.OriginalEnvironment
		return lab.Sample(ctx, s.subject, e)
	}
	if !s.c.Environment.Lasting {
		return lab.Sample(ctx, s.subject, e)
	}
	once := e
	once.Runs = 0
	built, err := lab.Sample(ctx, s.subject, once) // built where nothing is amiss
	if err != nil {
		return built, err
	}
	undo, err := launch.Break(s.c.Environment.Name)
	if err != nil {
		return built, err
	}
	defer func() { err = errors.Join(err, undo()) }()
	sample, err = lab.Sample(ctx, s.subject, e)
	sample.Build = built.Build
	return sample, err
}

func letter(o experiment.Observation, looks map[string]byte) byte {
	switch o.Outcome {
	case abi.OutcomePassed:
		return 'P'
	case abi.OutcomeSame:
		return 'S'
	case abi.OutcomeNoTest:
		return 'N'
	case abi.OutcomeOther:
		if looks[o.Look] == 0 {
			looks[o.Look] = byte(min('a'+len(looks), 'z'))
		}
		return looks[o.Look]
	}
	return 'X'
}

// seconds are seconds to a thousandth.
func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond)) / float64(time.Second)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if len(line) > 200 {
		line = line[:200]
	}
	return strings.ToValidUTF8(line, "")
}

// idOf names a case.
func idOf(repository string, kind history.Kind, commit, group, test string) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", group, test)
	return fmt.Sprintf("%s/%s/%.12s/%x", repository, strings.ReplaceAll(string(kind), " ", "-"), commit, h.Sum64()&0xffffff)
}
