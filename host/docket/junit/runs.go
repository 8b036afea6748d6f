package junit

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// DefaultHeldBytes is how much of the documents of cases waits for further runs of their tests.
const DefaultHeldBytes = 64 << 20

// maxRunTests is of how many tests of a suite the runs are counted; of those beyond it nothing is told.
const maxRunTests = 1 << 18

// runs are the ends of the runs of a suite's tests, true for one that passed. Of one element no more than those of one suite
// are known to be of one test: suites of other machines and browsers have tests of the same names.
type runs struct {
	ended  map[string][]bool // by the full name
	again  map[string]listed // the last places of tests that stand there several times
	tests  int               // as the suite counts them; 0 where it doesn't say
	listed int               // as they stand there
}

// listed is where a test stands: as which of its suite, and on which line.
type listed struct{ order, line int }

// maxKeptRuns of one test.
const maxKeptRuns = 1000

// end notes the end of a run. A test that was skipped did not run.
func (r *runs) end(c *test) {
	r.listed++
	full := fullName(c)
	list, known := r.ended[full]
	if c.skipped || c.name == "" || len(list) == maxKeptRuns || !known && len(r.ended) == maxRunTests {
		return
	}
	if r.ended[full] = append(list, !c.failed); known {
		if r.again == nil {
			r.again = map[string]listed{}
		}
		r.again[full] = listed{r.listed, c.line}
	}
}

// silent are the tests that failed without a word and passed when they were run again, in their order. A suite of
// pytest-rerunfailures lists each run, counts the last ones, and writes no failure of the others: the runs that it does not count have to be
// among those of tests that it lists again, and as many as these tests have.
func (r *runs) silent() []string {
	most, least := 0, 0
	var quiet []string
	for full := range r.again {
		list := r.ended[full]
		if most += len(list) - 1; !slices.Contains(list, false) {
			least += len(list) - 1
			quiet = append(quiet, full)
		}
	}
	if uncounted := r.listed - r.tests; r.tests == 0 || uncounted < least || uncounted > most {
		return nil
	}
	slices.SortFunc(quiet, func(a, b string) int { return r.again[a].order - r.again[b].order })
	return quiet
}

// of gives the runs of a test, and says whether they bear numbers. A suite that lists more tests than it counts lists, too,
// the failed runs of those that it ran again, as pytest-rerunfailures does, and doesn't say of them that they failed: of a
// test only the last run may have passed.
func (r *runs) of(full string) (all report.Runs, numbered bool) {
	if list := r.numbered(full); list != nil {
		for _, passed := range list {
			all.Add(passed)
		}
		return all, true
	}
	list := r.ended[full]
	for i, passed := range list {
		again := r.tests > 0 && r.listed > r.tests && i < len(list)-1
		all.Add(passed && !again)
	}
	return all, false
}

// runNumber ends the name of a test that is run several times on purpose: test_sum[2-5] of pytest-repeat, repetition 2 of 5 of JUnit.
var runNumber = regexp.MustCompile(`([\[-]|repetition )(\d{1,3})(-| of )(\d{1,3})(\]?)$`)

// numbered gives the ends of the runs from the first to the last of a test whose name has its number; nil where it has none,
// or where one of them is missing, since then the figures may be others.
func (r *runs) numbered(full string) []bool {
	at := runNumber.FindStringSubmatchIndex(full)
	if at == nil {
		return nil
	}
	most, _ := strconv.Atoi(full[at[8]:at[9]])
	var all []bool
	for i := 1; i <= most; i++ {
		list := r.ended[full[:at[4]]+strconv.Itoa(i)+full[at[5]:]]
		if len(list) != 1 {
			return nil
		}
		all = append(all, list[0])
	}
	return all
}

// heldCase is a case that waits for what further runs of its test bring.
type heldCase struct {
	docket.Entry
	full   string
	unique bool // the language lets no two tests have one name
	flaky  bool // and its own element says so
}

func (h *heldCase) size() int {
	n := 0
	for i := range h.Case.Documents {
		n += len(h.Case.Documents[i].Text)
	}
	return n
}

// held is how many bytes of documents may wait.
func (p *parser) held() int { return cmp.Or(max(0, p.reader.HeldBytes), DefaultHeldBytes) }

// hold keeps a case for later.
func (p *parser) hold(s *suite, c heldCase) error {
	s.held = append(s.held, c)
	if s.bytes += c.size(); s.bytes > p.held() {
		return p.release(s)
	}
	return nil
}

// pytestSuite is what pytest calls a suite that was given no name.
const pytestSuite = "pytest"

// holdSilent makes cases of the tests that failed without a word.
func (p *parser) holdSilent(s *suite) error {
	if s.name != pytestSuite && !s.unique {
		return nil
	}
	for _, full := range s.runs.silent() {
		class, name, _ := strings.Cut(full, "\x00")
		c := &test{line: s.runs.again[full].line, class: report.Bounded(class), name: report.Bounded(name)}
		entry := p.entry(s, c)
		entry.Case.Subject += report.Again
		if err := p.hold(s, heldCase{entry, full, true, false}); err != nil {
			return err
		}
	}
	return nil
}

// release gives the cases of a suite on.
func (p *parser) release(s *suite) error {
	held := s.held
	s.held, s.bytes = nil, 0
	for i := range held {
		c := &held[i]
		if r, numbered := s.runs.of(c.full); !c.flaky && (numbered || c.unique || r.Retried() && !sharesTitles(&c.Case)) && r.Tell(&c.Case) {
			light := report.Flaky()
			c.Case.Light = &light
		}
		if !p.yield(c.Entry, nil) {
			return stream.ErrStopped
		}
	}
	return nil
}

// scriptPlace is a place in JavaScript or TypeScript.
var scriptPlace = regexp.MustCompile(`\.[cm]?[jt]sx?:\d`)

// sharesTitles says whether the report is one of Jest, Vitest and their like: none lists the runs of a test that it ran again as test cases, but rows
// of a table may have one title.
func sharesTitles(c *abi.Case) bool {
	return slices.ContainsFunc(c.Documents, func(d abi.Document) bool { return scriptPlace.MatchString(d.Text) })
}

// namesAreUnique says whether the report is one of a language of which the tests' names are: Go numbers subtests that would
// have one name, and pytest tells the parameters. Elsewhere the rows of a table may share one.
func namesAreUnique(documents []abi.Document) bool {
	return slices.ContainsFunc(documents, func(d abi.Document) bool { return strings.Contains(d.Text, ".go:") || strings.Contains(d.Text, ".py:") })
}
