package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

// overTime is why a run that took too long tells nothing.
const overTime = "the run was ended by its limit of time, and the failure of the case is no timeout"

// maxDetailBytes is the most of a detail.
const maxDetailBytes = 2000

// tally collects what the runs of an experiment show.
type tally struct {
	result   abi.ExperimentResult
	looks    looks // of the case's failure
	runs     int   // that were made, those that tell nothing included
	absent   int   // of them, those whose tree lacks the test
	skipped  int   // of them, those whose tree skips it
	reason   string
	online   bool           // the tests have the network
	homeless bool           // the tests don't see the user's home
	native   bool           // the tests run outside of the laboratory
	also     string         // another project that has such a test
	hidden   string         // a path that the failure names, and that the tests don't see
	lacks    string         // what runs of the tree under test that failed reached for in vain
	untraced bool           // it is not known what a run of a tree that it is compared with reached for
	missed   bool           // a run failed for want of the network that experiments take away
	first    []abi.Document // of the first run that failed
	look     func([]abi.Document) looks
	failures []looks // of the runs that are counted
	varying  *varying
	logs     func(line string) bool // says whether the tree under test logs a line by what it alone has
	absence  func() string          // says more of a test that a tree does not have
	loose    bool                   // failures are compared without numbers and places
	loaded   loaded
}

// add takes a run.
func (t *tally) add(run *testRun) {
	t.runs++
	if run.Loaded.code == "" {
		run.Loaded.code = abi.NotCertified
	}
	t.loaded = t.loaded.worse(run.Loaded)
	if run.Rows {
		t.result.Test = abi.TestChanged
	}
	if run.Kind != kindPassed {
		t.lacks, t.untraced = cmp.Or(t.lacks, run.Lacks), t.untraced || compared(&t.result.Experiment) && !run.Traced
	}
	limit, lacked := run.Result.Ending != isolate.Exited && run.Result.Ending != isolate.Signaled, ""
	if compared(&t.result.Experiment) && !slices.Contains([]kind{kindPassed, kindAbsent, kindSkipped}, run.Kind) {
		lacked = t.lacked(run)
	}
	switch {
	case run.Kind == kindPassed:
		t.result.Passed++
	case run.Rows: // it is another row that fails
		t.missed, t.reason = true, "the base has the test with other rows, of which some do not pass: "+run.Log()
	case limit && run.Result.Ending != isolate.OverTime: // of one machine and its limits, whatever the tree
		t.missed, t.reason = true, fmt.Sprintf("the run was ended by its limit of %s\n%s", run.Result.Ending, run.Log())
	case run.Kind == kindUnclear:
		t.reason = "the run says that the test failed, and ended well"
	case lacked != "":
		t.missed, t.reason = true, lacked
	case run.Kind == kindSkipped && run.Lacks != "" && compared(&t.result.Experiment): // it may ask for that before it runs
		t.missed, t.reason = true, run.Lacks
	case run.Kind == kindSkipped:
		t.skipped, t.reason = t.skipped+1, plan.Skipped
	case run.Kind == kindFailed:
		t.failed(run.Documents, limit, run.served())
	case limit && run.Result.Ending == isolate.OverTime && t.looks.timeout:
		t.fails(&looks{timeout: true})
	case limit && run.Result.Ending == isolate.OverTime: // the machine may be busy: the case did not fail by taking long
		t.reason = overTime
	case run.Kind == kindAbsent:
		t.absent++
	case run.Kind == kindSilent && t.result.Experiment.Order == abi.OriginalOrder:
		t.reason = "the tests beside this one ended before it: " + output(run)
	default: // such as a panic before the first test
		documents := []abi.Document{{Name: "log", Text: output(run)}}
		e := &t.result.Experiment
		if l := t.look(documents); run.Kind == kindSilent && (e.Product != abi.Head || e.Tests != abi.Head) && t.differs(&l) != "" {
			t.missed, t.reason = true, plan.EndedBefore+"\n"+output(run)
			return
		}
		t.failed(documents, false, run.served())
	}
}

func output(run *testRun) string { return strings.ReplaceAll(string(run.Result.Output), "\x16", "") }

// failed takes a run that failed, and whether it was ended by its limit of time, which may be all that it failed by, and whether it reached all that it
// wanted to connect to beside servers of its own.
func (t *tally) failed(documents []abi.Document, ended, served bool) {
	l := t.look(documents)
	if !t.looks.timeout && (l.timeout || ended && t.differs(&l) != "") {
		t.reason = overTime
		return
	}
	if t.first == nil {
		t.first = documents
	}
	log := (&testRun{Documents: documents}).Log()
	if lacking, _ := t.varying.apart(&t.looks, &l); len(lacking) > 0 && !t.online && unreachedText(log, served) != "" {
		t.missed, t.reason = true, "the test needs a network or a service, such as a database, that experiments take away: "+unreachedText(log, served)+
			"; "+plan.LeavesNetwork
		return
	}
	t.fails(&l)
}

func (t *tally) fails(l *looks) {
	t.failures = append(t.failures, *l)
	t.count(l)
}

// count counts a failure.
func (t *tally) count(l *looks) {
	why := t.differs(l)
	if why == "" {
		t.result.Same++
		return
	}
	t.result.Other++
	if t.result.Detail == "" || strings.HasPrefix(t.result.Detail, plan.Besides) {
		t.result.Detail = firstLines(why + "\n" + l.log)
	}
}

// elsewhere says whether the tree under test always fails, and never as the case did, in earlier steps either: then it is the runs that lack something, such as a variable,
// and no outcome tells anything of the case.
func (t *tally) elsewhere() bool {
	r := &t.result
	return odds.IsRerun(&r.Experiment) && r.Passed+r.Same == 0 && r.Other > 0 && r.Other == t.runs && !t.varying.back
}

// networkText is what programs print that reach nobody.
var networkText = regexp.MustCompile(`(?i)connection refused|ECONNREFUSED|ENETUNREACH|EAI_AGAIN|ENOTFOUND|no such host|no route to host|network is unreachable|` +
	`name or service not known|temporary failure in name resolution|UnknownHostException`)

// decided says whether more runs change nothing: the tree has no such test, or the test can't run here. Runs that differ go on: all of
// them together show a rate.
func (t *tally) decided() bool { return t.absent > 0 || t.missed }

// end gives the result, and whether it is final. err is what kept the experiment from coming to its end.
func (t *tally) end(err error) (abi.ExperimentResult, bool) {
	r := &t.result
	t.compare()
	r.Outcome, r.Loaded = t.outcome(), t.loaded.code
	if t.untraced && r.Same > 0 {
		r.Detail = firstLines(strings.TrimSpace(r.Detail + "\n" + plan.NotTraced))
	}
	switch {
	case t.loaded.code == abi.Contradicted:
		r.Detail = firstLines("the runs are not of this tree: " + t.loaded.why + "\n" + r.Detail)
	case t.loaded.why != "":
		r.Detail = firstLines(plan.OtherWorld + t.loaded.why + "\n" + r.Detail)
	}
	unchanged := r.Experiment.Product == abi.Head && r.Experiment.Tests == abi.Head // where the test of the case was built and found
	switch failed, isBuild := errors.AsType[*buildError](err); {
	case isBuild && unchanged:
		return notRun(r.Experiment, "the tree under test does not build (files that git ignores are not in it):\n"+failed.Output), true
	case isBuild:
		r.Outcome, r.Detail = abi.OutcomeNotBuilt, firstLines(failed.Output)
		return *r, true
	case errors.Is(err, errNoTests):
		r.Outcome, r.Detail = abi.OutcomeNoTest, strings.TrimSpace(r.Detail+"\n"+t.absence())
		return *r, true
	case err != nil && r.Outcome == abi.OutcomeNotRun:
		return notRun(r.Experiment, err.Error()), false
	case err == nil && t.hidden != "" && unchanged && r.Outcome == abi.OutcomePassed:
		return t.uncounted("the failure names " + t.hidden + ", which tests in experiments do not see, and it does not come back without it: " + plan.ShowsHome), true
	case err == nil && t.missed && compared(&r.Experiment) && r.Same > 0:
		return t.uncounted(t.reason), true
	case err == nil && t.elsewhere():
		why := plan.Otherwise + ". A variable, a file, a service or other tests before it that the " +
			"test needs may be missing in experiments (see their limits)"
		switch {
		case several(t.first):
			why = plan.Otherwise + "; " + plan.SeveralTests
		case t.also != "":
			why = plan.Otherwise + ". The test may be that of another folder: --source " + t.also
		case t.native:
			why = plan.Natively + "it fails there, too, but not as the report says"
		case t.lacks != "":
			why = plan.Otherwise + ". In experiments " + t.lacks
		case t.homeless:
			why += "; they hide your home: " + plan.ShowsHome
		}
		return t.uncounted(why + ":\n" + r.Detail), true
	case err != nil:
		r.Detail = firstLines(fmt.Sprintf("%d of %d runs were not made: %v\n%s", r.Experiment.Runs-t.runs, r.Experiment.Runs, err, r.Detail))
		return *r, false
	case r.Experiment.Tests == abi.Head && r.Outcome == abi.OutcomeNoTest:
		return notRun(r.Experiment, "the test is not found in the tree under test (files that git ignores are not in it)"), true
	case r.Outcome == abi.OutcomeNotRun, r.Outcome == abi.OutcomeNoTest && t.skipped > 0:
		r.Detail = firstLines(t.reason)
	case t.native && odds.IsRerun(&r.Experiment) && r.Same == 0:
		r.Detail = firstLines(plan.Natively + "it does not come back there either\n" + r.Detail)
	case t.homeless && odds.IsRerun(&r.Experiment) && r.Same == 0:
		r.Detail = firstLines("the failure does not come back, and tests in experiments do not see your home, which it may need: " + plan.ShowsHome + "\n" + r.Detail)
	}
	return *r, true
}

// several says whether documents are of more than one failure of a report.
func several(documents []abi.Document) bool {
	names := map[string]bool{}
	for i := range documents {
		names[documents[i].Name] = true
	}
	return len(names) < len(documents)
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
	case t.absent > 0, t.skipped > 0 && compared(&r.Experiment): // a test that a tree skips is like one that it lacks
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
