package experiment

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

// maxDetailBytes is the most of a detail.
const maxDetailBytes = 2000

// tally collects what the runs of an experiment show.
type tally struct {
	result   abi.ExperimentResult
	looks    looks // of the case's failure
	runs     int   // that were made, those that tell nothing included
	absent   int   // of them, those whose tree lacks the test
	reason   string
	online   bool   // the tests have the network
	homeless bool   // the tests don't see the user's home
	hidden   string // a path that the failure names, and that the tests don't see
	missed   bool   // a run failed for want of the network that experiments take away
	// others are the looks of the first run that failed in another way; alike says that all of them look so.
	others *looks
	alike  bool
	first  []abi.Document // of the first run that failed
	// failures are the looks of all runs that failed, and constant is what those of the tree under test had in common where they differ;
	// nil where that is not known.
	failures []looks
	constant *looks
	loaded   loaded
}

// add takes a run.
func (t *tally) add(f *failure, run *testRun) {
	t.runs++
	if run.Loaded.code == "" {
		run.Loaded.code = abi.NotCertified
	}
	t.loaded = t.loaded.worse(run.Loaded)
	if run.Rows {
		t.result.Test = abi.TestChanged
	}
	limit := run.Result.Ending != isolate.Exited && run.Result.Ending != isolate.Signaled
	switch {
	case run.Kind == kindPassed:
		t.result.Passed++
	case run.Rows: // it is another row that fails
		t.missed, t.reason = true, "the base has the test with other rows, of which some do not pass: "+run.Log()
	case limit && run.Result.Ending != isolate.OverTime: // of one machine and its limits, whatever the tree
		t.missed, t.reason = true, fmt.Sprintf("the run was ended by its limit of %s\n%s", run.Result.Ending, run.Log())
	case run.Kind == kindUnclear:
		t.reason = "the run says that the test failed, and ended well"
	case compared(&t.result.Experiment) && run.Kind != kindAbsent && run.Kind != kindSkipped && run.lacked() != "":
		t.missed, t.reason = true, run.lacked()
	case run.Kind == kindSkipped:
		t.reason = "the test was skipped"
	case run.Kind == kindFailed && !limit, run.Kind == kindFailed && run.Result.Ending == isolate.OverTime:
		t.failed(f, run.Documents)
	case limit && run.Result.Ending == isolate.OverTime && t.looks.timeout:
		t.result.Same++
	case limit && run.Result.Ending == isolate.OverTime: // the machine may be busy: the case did not fail by taking long
		t.reason = "the run was ended by its limit of time, and the failure of the case is no timeout"
	case run.Kind == kindAbsent:
		t.absent++
	case run.Kind == kindSilent && t.result.Experiment.Order == abi.OriginalOrder:
		t.reason = "the tests beside this one ended before it: " + output(run)
	default: // such as a panic before the first test
		t.failed(f, []abi.Document{{Name: "log", Text: output(run)}})
	}
}

func output(run *testRun) string { return strings.ReplaceAll(string(run.Result.Output), "\x16", "") }

func (t *tally) failed(f *failure, documents []abi.Document) {
	log := (&testRun{Documents: documents}).Log()
	l := looksOf(f.group, documents)
	t.failures = append(t.failures, l)
	if t.first == nil {
		t.first = documents
	}
	switch {
	case t.same(&l):
		t.result.Same++
	case !t.online && networkText.MatchString(log):
		t.missed, t.reason = true, "the test needs a network or a service, such as a database, that experiments take away: "+networkText.FindString(log)+
			"; "+plan.LeavesNetwork
	default:
		if t.others == nil {
			t.others, t.alike = &l, t.result.Other == 0
		}
		t.alike = t.alike && l.same(*t.others)
		t.other(log)
	}
}

// same says whether a run failed as the case did.
func (t *tally) same(l *looks) bool {
	moved := t.result.Experiment.Tests != abi.Head
	return l.same(t.looks) || t.constant != nil && l.has(t.constant, moved) && t.looks.has(t.constant, false)
}

// compare looks at failures of the tree under test again when several differ from that of the case, and from each other: what one tree
// in one environment does not show each time is no part of the failure.
func (t *tally) compare() {
	r := &t.result
	if !odds.IsRerun(&r.Experiment) || r.Other == 0 || len(t.failures) < 2 || len(t.failures) != r.Same+r.Other || t.alike && r.Same == 0 {
		return
	}
	c := common(t.failures)
	t.constant = &c
	for i := range t.failures {
		if !t.same(&t.failures[i]) {
			t.constant = nil
			return
		}
	}
	r.Same, r.Other, r.Detail = r.Same+r.Other, 0, ""
}

// elsewhere says whether the tree under test always fails, and each time in one way that is not the case's: then it is the runs that
// lack something, such as a variable, and no outcome tells anything of the case.
func (t *tally) elsewhere() bool {
	r := &t.result
	e := &r.Experiment
	return e.Product == abi.Head && e.Tests == abi.Head && e.Environment == abi.OriginalEnvironment && e.Order == abi.Alone &&
		r.Passed+r.Same == 0 && r.Other > 1 && r.Other == t.runs && t.alike
}

// networkText is what programs print that reach nobody.
var networkText = regexp.MustCompile(`(?i)connection refused|ECONNREFUSED|ENETUNREACH|EAI_AGAIN|ENOTFOUND|no such host|no route to host|network is unreachable|` +
	`name or service not known|temporary failure in name resolution|UnknownHostException`)

func (t *tally) other(detail string) {
	t.result.Other++
	if t.result.Detail == "" {
		t.result.Detail = firstLines(detail)
	}
}

// decided says whether more runs change nothing: the tree has no such test, or the test can't run here. Runs that differ go on: all of
// them together show a rate.
func (t *tally) decided() bool { return t.absent > 0 || t.missed }

// end gives the result, and whether it is final. err is what kept the experiment from coming to its end.
func (t *tally) end(err error) (abi.ExperimentResult, bool) {
	r := &t.result
	t.compare()
	r.Outcome, r.Loaded = t.outcome(), t.loaded.code
	if t.loaded.code == abi.Contradicted {
		r.Detail = firstLines("the runs are not of this tree: " + t.loaded.why + "\n" + r.Detail)
	}
	unchanged := r.Experiment.Product == abi.Head && r.Experiment.Tests == abi.Head // where the test of the case was built and found
	switch failed, isBuild := errors.AsType[*buildError](err); {
	case isBuild && unchanged:
		return notRun(r.Experiment, "the tree under test does not build (submodules and files that git ignores are not in it):\n"+failed.Output), true
	case isBuild:
		r.Outcome, r.Detail = abi.OutcomeNotBuilt, firstLines(failed.Output)
		return *r, true
	case errors.Is(err, errNoTests):
		r.Outcome = abi.OutcomeNoTest
		return *r, true
	case err != nil && r.Outcome == abi.OutcomeNotRun:
		return notRun(r.Experiment, err.Error()), false
	case err == nil && t.hidden != "" && unchanged && r.Outcome == abi.OutcomePassed:
		return t.uncounted("the failure names " + t.hidden + ", which tests in experiments do not see, and it does not come back without it: " + plan.ShowsHome), true
	case err == nil && t.elsewhere():
		why := "the failure does not come back: each rerun fails in one way, but not as the report says. A variable, a file or a service that the " +
			"test needs may be missing in experiments (see their limits)"
		if t.homeless {
			why += "; they hide your home: " + plan.ShowsHome
		}
		return t.uncounted(why + ":\n" + r.Detail), true
	case err != nil:
		r.Detail = firstLines(fmt.Sprintf("%d of %d runs were not made: %v\n%s", r.Experiment.Runs-t.runs, r.Experiment.Runs, err, r.Detail))
		return *r, false
	case r.Experiment.Tests == abi.Head && r.Outcome == abi.OutcomeNoTest:
		return notRun(r.Experiment, "the test is not found in the tree under test (submodules and files that git ignores are not in it)"), true
	case r.Outcome == abi.OutcomeNotRun:
		r.Detail = firstLines(t.reason)
	case t.homeless && odds.IsRerun(&r.Experiment) && r.Same == 0:
		r.Detail = firstLines("the failure does not come back, and tests in experiments do not see your home, which it may need: " + plan.ShowsHome + "\n" + r.Detail)
	}
	return *r, true
}

// uncounted is a result whose runs tell nothing of the failure. Their counts stay.
func (t *tally) uncounted(why string) abi.ExperimentResult {
	r := t.result
	r.Outcome, r.Detail, r.Test = abi.OutcomeNotRun, firstLines(why), ""
	return r
}

func (t *tally) outcome() abi.ExperimentOutcome {
	r := &t.result
	switch failed := r.Same + r.Other; {
	case r.Passed > 0 && failed > 0:
		return abi.OutcomeMixed
	case r.Passed > 0:
		return abi.OutcomePassed
	case r.Other > 0:
		return abi.OutcomeOther
	case r.Same > 0:
		return abi.OutcomeSame
	case t.absent > 0:
		return abi.OutcomeNoTest
	default:
		return abi.OutcomeNotRun
	}
}

func notRun(e abi.Experiment, why string) abi.ExperimentResult {
	return abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeNotRun, Detail: firstLines(why)}
}

// firstLines is the beginning of a text, without the lines with which the testing package tells of its progress.
func firstLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		if strings.HasPrefix(line, "=== ") {
			continue
		}
		if b.WriteString(line); b.Len() > maxDetailBytes {
			break
		}
	}
	cut := strings.TrimSpace(b.String())
	for len(cut) > maxDetailBytes {
		_, size := utf8.DecodeLastRuneInString(cut[:maxDetailBytes+1])
		cut = cut[:maxDetailBytes+1-size]
	}
	return cut
}

// oneLine is the first line of a message.
func oneLine(text string) string {
	line, _, _ := strings.Cut(firstLines(text), "\n")
	return line
}

// short is a duration without zeros: 10m, not 10m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
