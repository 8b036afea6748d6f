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
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// How often a test runs in a cell. Cells that few studies need get few runs, unless the case is hard.
const (
	manyRuns  = 20
	fewRuns   = 5
	orderRuns = 2
	// slowRun is how long a run may take for a cell to get many.
	slowRun = 1500 * time.Millisecond
)

// cell is one that is to be run.
type cell struct {
	product, tests history.Role
	environment    abi.RunEnvironment
	order          abi.RunOrder
	runs           int
}

// cellsOf are the cells of a case: those of its trees first, since its truth depends on them.
func cellsOf(c *history.Case, rich bool) []cell {
	some, order := fewRuns, orderRuns
	if rich {
		some, order = manyRuns, manyRuns
	}
	const head, base = history.Head, history.Base
	list := []cell{
		{head, head, abi.OriginalEnvironment, abi.Alone, manyRuns},
		{base, base, abi.OriginalEnvironment, abi.Alone, manyRuns},
	}
	if _, ok := c.Trees[history.Merge]; ok {
		list = append(list,
			cell{history.Merge, history.Merge, abi.OriginalEnvironment, abi.Alone, manyRuns},
			cell{history.Target, history.Target, abi.OriginalEnvironment, abi.Alone, manyRuns})
	}
	list = append(list,
		cell{head, head, abi.StarvedEnvironment, abi.Alone, some},
		cell{head, head, abi.CleanEnvironment, abi.Alone, some},
		cell{head, head, abi.OriginalEnvironment, abi.OriginalOrder, order},
		cell{head, base, abi.OriginalEnvironment, abi.Alone, some},
		cell{base, head, abi.OriginalEnvironment, abi.Alone, some},
	)
	if rich {
		list = append(list,
			cell{base, base, abi.StarvedEnvironment, abi.Alone, some},
			cell{base, base, abi.CleanEnvironment, abi.Alone, some},
			cell{base, base, abi.OriginalEnvironment, abi.OriginalOrder, order})
	}
	return list
}

// isRich says whether a case gets many runs in all cells: hard ones do, and one third of the others.
func isRich(c *history.Case) bool {
	h := fnv.New32a()
	h.Write([]byte(c.ID))
	return len(c.Traps) > 0 || h.Sum32()%3 == 0
}

// dropped says why a candidate is no case.
type dropped string

func (d dropped) Error() string { return string(d) }

// sample runs a case in its cells. Its error is a dropped where the runs don't show what the case's recipe says.
func (m *Miner) sample(ctx context.Context, c *history.Case) (err error) {
	entry, err := c.Failure.Entry()
	if err != nil {
		return dropped("the report can't be read again")
	}
	sub := sampler{miner: m, subject: &entry.Case, labs: map[bool]*experiment.Lab{}, c: c}
	defer func() { err = errors.Join(err, sub.close()) }()
	c.Cells = ownCode(c)
	for i, k := range cellsOf(c, isRich(c)) {
		if err := sub.run(ctx, k); err != nil {
			return err
		}
		trees := 2
		if _, ok := c.Trees[history.Merge]; ok {
			trees = 4
		}
		if i == trees-1 {
			if _, err := history.Derive(c); err != nil {
				return dropped(err.Error())
			}
		}
	}
	c.Truth, err = history.Derive(c)
	if err != nil {
		return dropped(err.Error())
	}
	return m.loads(ctx, c)
}

// loads finds out which code the runs of each tree loaded, where the suite can tell.
func (m *Miner) loads(ctx context.Context, c *history.Case) error {
	l, ok := m.suite.(loader)
	if !ok {
		return nil
	}
	c.Loaded = map[history.Role]history.Loaded{}
	for role, tree := range c.Trees {
		folder, err := m.checkout(ctx, &tree)
		if err != nil {
			return err
		}
		if c.Loaded[role], err = l.loaded(ctx, folder, &c.Failure); err != nil {
			return err
		}
	}
	return nil
}

// sampler runs the cells of one case: in a lab of head and base, and in one of merge and target.
type sampler struct {
	miner   *Miner
	c       *history.Case
	subject *abi.Case
	labs    map[bool]*experiment.Lab
	slow    bool
	undo    func() error // what was planted; nil for nothing
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
		Source: folder, Commit: tree.Commit, Green: green, Mode: experiment.All, Budget: time.Hour, PerCase: time.Hour, Runners: []*experiment.Definition{runner},
	}
	if s.miner.suite.name() == "go" {
		config.Flags = []string{"-trimpath"} // so that trees in other folders share what was compiled
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
	return abi.Green
}

func (s *sampler) run(ctx context.Context, k cell) error {
	lab, err := s.lab(ctx, k.product == history.Merge || k.product == history.Target)
	if err != nil {
		return err
	}
	if s.slow && (k.environment != abi.OriginalEnvironment || k.order != abi.Alone || k.product != k.tests) {
		k.runs = min(k.runs, fewRuns)
	}
	if k.order == abi.OriginalOrder && s.c.Failure.Runner != "go" && !slices.Contains(s.c.Traps, history.OrderMatters) {
		k.runs = min(k.runs, orderRuns) // these run all files of a folder, and not one package
	}
	e := abi.Experiment{Product: revisionOf(k.product), Tests: revisionOf(k.tests), Environment: k.environment, Order: k.order, Runs: k.runs}
	sample, err := lab.Sample(ctx, s.subject, e)
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
	if n := len(sample.Runs); n > 0 && wall/time.Duration(n) > slowRun {
		s.slow = true
	}
	s.c.Cells = append(s.c.Cells, out)
	return nil
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
