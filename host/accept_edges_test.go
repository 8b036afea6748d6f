package host_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// tour reads the cases of the example docket that shows what the court does.
func tour(t testing.TB) map[string]docket.Entry {
	t.Helper()
	f := must.Get(os.Open("../examples/dockets/tour.jsonl"))(t)
	defer func() { _ = f.Close() }()
	entries := make(map[string]docket.Entry)
	var reader docket.Reader
	for entry, err := range reader.JSONL("tour.jsonl", f) {
		must.Do(t, err)
		entries[entry.Case.ID] = entry
	}
	return entries
}

// tried tries one case of the tour with the shipped modules.
func tried(t *testing.T, id string) (*trial.Trial, *spy) {
	t.Helper()
	entry, ok := tour(t)[id]
	if !ok {
		t.Fatalf("the tour has no case %q", id)
	}
	return tryShared(t, entry.Case)
}

// count counts the calls of a kind by persona; edges are the clerk's.
func (s *spy) count() map[string]int {
	n := make(map[string]int)
	for _, r := range s.calls {
		n[string(r.Call)+" "+r.Persona]++
	}
	return n
}

func wantPath(t *testing.T, outcome *trial.Trial, want string) {
	t.Helper()
	check.Equal(t, strings.Join(outcome.Result.Path, " "), want, "path")
}

func TestAccept_HD1_FastTrackByTheProsecutionsOwnEstimate(t *testing.T) {
	t.Parallel()
	outcome, s := tried(t, "tour-plea")
	if got := outcome.Passes[0].Indictment.Confidence; got < 0.95 || got == outcome.Result.Light.Confidence {
		t.Errorf("the prosecution's estimate is %v, Light's %v", got, outcome.Result.Light.Confidence)
	}
	if s.count()["node bulwark"] != 0 || outcome.Result.Path[1] != "HD1:defend" {
		t.Errorf("discover was called: %v", outcome.Result.Path)
	}
	outcome, s = tried(t, "tour-affirm")
	if got := outcome.Passes[0].Indictment.Confidence; got >= 0.95 {
		t.Fatalf("the estimate is %v", got)
	}
	if s.count()["node bulwark"] == 0 || outcome.Result.Path[1] != "discover" {
		t.Errorf("below 0.95 the case does not go to discover: %v", outcome.Result.Path)
	}
}

func TestAccept_HD2_PleaDealSkipsTheHearing(t *testing.T) {
	t.Parallel()
	outcome, s := tried(t, "tour-plea")
	wantPath(t, outcome, "indict HD1:defend HD2:verdict HD6:_done")
	for persona, want := range map[string]int{"challenger": 1, "abyss": 1, "specter": 1, "bulwark": 0} {
		check.Equal(t, s.count()["node "+persona], want, "node calls of", persona)
	}
	if outcome.Passes[0].Hearing != nil || outcome.Result.Rounds != 0 {
		t.Error("there was a hearing")
	}
}

func TestAccept_HD3_MotionToDismissGoesToHearing(t *testing.T) {
	t.Parallel()
	outcome, _ := tried(t, "tour-dismiss")
	if brief := outcome.Passes[0].Brief; !brief.MotionToDismiss || brief.AlternativeHypothesis != nil || !slices.Contains(outcome.Result.Path, "HD3:hearing") {
		t.Errorf("brief %+v, path %v", brief, outcome.Result.Path)
	}
}

func TestAccept_HD4_AlternativeHypothesisGoesToHearing(t *testing.T) {
	t.Parallel()
	outcome, _ := tried(t, "tour-amend")
	if brief := outcome.Passes[0].Brief; brief.AlternativeHypothesis == nil || brief.MotionToDismiss || !slices.Contains(outcome.Result.Path, "HD4:hearing") {
		t.Errorf("brief %+v, path %v", brief, outcome.Result.Path)
	}
	if outcome.Passes[0].Hearing == nil {
		t.Error("nothing was heard")
	}
}

func TestAccept_HD5_HearingEndsOnConvergence(t *testing.T) {
	t.Parallel()
	outcome, s := tried(t, "tour-rounds")
	record := outcome.Passes[0].Hearing
	if record == nil || !record.Converged || len(record.Rounds) < 2 || len(record.Rounds) >= record.MaxRounds {
		t.Fatalf("the hearing did not converge after a round that brought something: %+v", record)
	}
	for i, round := range record.Rounds {
		quiet := len(round.NewChallenges) == 0 && len(round.NewItems) == 0
		check.Equal(t, quiet, i == len(record.Rounds)-1, "round", round.Round, "quiet", "last")
		check.Equal(t, round.By, (abi.RoundSpeakers{Prosecution: "challenger", Defense: "abyss", Bench: "bulwark"}), "round", round.Round)
		if round.ProsecutionArgument == "" || round.DefenseRebuttal == "" || round.JudgeNotes == "" {
			t.Errorf("round %d: somebody said nothing: %+v", round.Round, round)
		}
	}
	digests := make(map[string]bool)
	turns := 0
	for _, r := range s.calls {
		if r.Call == abi.CallNode && r.Node == "hearing" {
			digests[r.Digest] = true
			turns++
		}
	}
	if len(digests) != 3 || turns != 3*len(record.Rounds) {
		t.Errorf("%d modules spoke in %d turns", len(digests), turns)
	}
}

func TestAccept_HD5_HearingEndsOnMaxRounds(t *testing.T) {
	t.Parallel()
	for rounds, text := range map[int]string{1: "max_rounds: 1", 2: "max_rounds: 2"} {
		def := behave(t, "bulwark", "hearing", "quarrel", "max_rounds: 3", text, "rounds: 3", "rounds: "+text[len(text)-1:])
		outcome := try(t, open(t, host.Config{Pipeline: def}), dispute())
		record := outcome.Passes[0].Hearing
		if record == nil || len(record.Rounds) != rounds || record.Converged || !slices.Contains(outcome.Result.Path, "HD5:verdict") {
			t.Errorf("at %s: %+v, path %v", text, record, outcome.Result.Path)
		}
	}
}

func TestAccept_HD6_AffirmKeepsTheCharge(t *testing.T) {
	t.Parallel()
	outcome, _ := tried(t, "tour-affirm")
	charge, got := outcome.Passes[0].Indictment.ChargedDefectType, outcome.Result.Final
	if last := lastStep(outcome); got.Status != trial.Affirmed || got.Classification != charge || last != "HD6:_done" {
		t.Errorf("%+v of the charge %s by %s", got, charge, last)
	}
	contradicts(t, "contradiction") // affirms another label
}

func TestAccept_HD7_AmendChangesTheChargeToAnotherLabel(t *testing.T) {
	t.Parallel()
	outcome, _ := tried(t, "tour-amend")
	charge, got := outcome.Passes[0].Indictment.ChargedDefectType, outcome.Result.Final
	if last := lastStep(outcome); got.Status != trial.Amended || got.Classification == charge || !slices.Contains(outcome.Case.Labels, got.Classification) || last != "HD7:_done" {
		t.Errorf("%+v of the charge %s by %s", got, charge, last)
	}
	contradicts(t, "no change") // amends to the charge itself
}

func lastStep(outcome *trial.Trial) string { return outcome.Result.Path[len(outcome.Result.Path)-1] }

// contradicts has the judge give a verdict that contradicts itself, which is rejected.
func contradicts(t *testing.T, how string) {
	t.Helper()
	outcome := try(t, open(t, host.Config{Pipeline: behave(t, "specter", "verdict", how)}), dispute())
	if got := outcome.Result.Final; got.Status != trial.Mistrial || got.Cause != "invalid_artifact" {
		t.Fatalf("%s: %+v", how, got)
	}
	p := outcome.Result.Error.Problems
	if len(p) != 1 || p[0].Path != "artifact.verdict.final_classification" || p[0].Code != abi.CodeClassification {
		t.Errorf("%s: problems %+v", how, p)
	}
}

func TestAccept_HD9_AcquitHasAGapBriefAndNoClassification(t *testing.T) {
	t.Parallel()
	outcome, _ := tried(t, "tour-acquit")
	got := outcome.Result
	if got.Final.Status != trial.Acquitted || got.Final.Classification != "" || !slices.Contains(got.Path, "HD9:_gap_brief") {
		t.Fatalf("%+v, path %v", got.Final, got.Path)
	}
	wantGaps(t, outcome)
	check.Contains(t, got.GapBrief.Gaps[0].Description, "evidence", "the brief does not say that there is no evidence", got.GapBrief.Gaps)
}

// wantGaps checks that a brief is there and says something to do.
func wantGaps(t *testing.T, outcome *trial.Trial) {
	t.Helper()
	b := outcome.Result.GapBrief
	if b == nil || b.CaseID != outcome.Case.ID || b.Cause == "" || b.Summary == "" || len(b.Gaps) == 0 {
		t.Fatalf("no useful gap brief: %+v", b)
	}
	for _, g := range b.Gaps {
		if g.Description == "" || g.SuggestedAction == "" {
			t.Errorf("an empty gap: %+v", g)
		}
	}
}

func TestAccept_HD10_TTLWinsOverAnEndlessLoop(t *testing.T) {
	t.Parallel()
	const ttl = time.Second
	for persona, node := range map[string]string{"bulwark": "discover", "specter": "verdict", "abyss": "defend"} {
		t.Run(node, func(t *testing.T) {
			t.Parallel()
			h := open(t, host.Config{
				Pipeline: behave(t, persona, node, "spin", "ttl: 10m", "ttl: 1s"), Limits: host.Limits{WallClock: time.Minute, Fuel: 1 << 50},
			})
			start := time.Now()
			outcome := try(t, h, dispute())
			if elapsed := time.Since(start); elapsed > 10*(ttl+time.Second) { // the row says a second; a loaded machine gets ten times the room
				t.Errorf("returned after %s", elapsed)
			}
			if got := outcome.Result.Final; got.Status != trial.Mistrial || got.Cause != trial.CauseTTL || got.Classification != "" {
				t.Errorf("%+v", got)
			}
			check.Equal(t, outcome.Result.Path[len(outcome.Result.Path)-1], "HD10:_mistrial", "path", outcome.Result.Path)
			wantGaps(t, outcome)
		})
	}
}

func TestAccept_HD10_AVerdictThatWasGivenStands(t *testing.T) {
	t.Parallel()
	// The clock jumps over the TTL while the verdict is being given.
	now := time.Unix(1_000_000, 0)
	s := &spy{}
	config := host.Config{Now: func() time.Time { return now }}
	config.Observe = func(r host.CallRecord) {
		s.observe(r)
		if r.Node == "verdict" && r.Call == abi.CallNode {
			now = now.Add(time.Hour)
		}
	}
	outcome := try(t, open(t, config), dispute())
	if got := outcome.Result.Final.Status; got != trial.Amended && got != trial.Affirmed && got != trial.Acquitted {
		t.Errorf("the verdict did not stand: %+v", outcome.Result.Final)
	}
	// The same jump one node earlier is a mistrial: the clerk says so through HD10.
	config.Observe = func(r host.CallRecord) {
		if r.Node == "defend" && r.Call == abi.CallNode {
			now = now.Add(time.Hour)
		}
	}
	outcome = try(t, open(t, config), dispute())
	if got := outcome.Result.Final; got.Cause != trial.CauseTTL || outcome.Result.Path[len(outcome.Result.Path)-1] != "HD10:_mistrial" {
		t.Errorf("%+v, path %v", got, outcome.Result.Path)
	}
}

func TestAccept_HD11_TheHandoffAfterTheLastAllowedOneIsAMistrial(t *testing.T) {
	t.Parallel()
	free := try(t, shared(t), dispute())
	needed := free.Result.Handoffs
	if free.Result.Final.Status == trial.Mistrial || needed < 4 {
		t.Fatalf("%+v after %d handoffs", free.Result.Final, needed)
	}
	for limit := 1; limit <= needed; limit++ {
		outcome := try(t, open(t, host.Config{Court: func(c *pipeline.Court) { c.MaxHandoffs = limit }}), dispute())
		got := outcome.Result
		if limit == needed {
			if got.Final.Status == trial.Mistrial || got.Handoffs != needed {
				t.Errorf("with all %d handoffs: %+v", limit, got.Final)
			}
			continue
		}
		if got.Final.Status != trial.Mistrial || got.Final.Cause != trial.CauseHandoffs || got.Handoffs != limit {
			t.Errorf("with %d of %d handoffs: %+v after %d", limit, needed, got.Final, got.Handoffs)
		}
		if last := got.Path[len(got.Path)-1]; last != "HD11:_mistrial" {
			t.Errorf("with %d of %d handoffs: path %v", limit, needed, got.Path)
		}
		wantGaps(t, outcome)
	}
}

func TestAccept_HD12_TheJudgesMistrial(t *testing.T) {
	t.Parallel()
	outcome := try(t, open(t, host.Config{Pipeline: behave(t, "specter", "verdict", "mistrial")}), dispute())
	if got := outcome.Result.Final; got.Status != trial.Mistrial || got.Cause != trial.CauseJudge || got.Classification != "" {
		t.Errorf("%+v", got)
	}
	check.Equal(t, outcome.Result.Path[len(outcome.Result.Path)-1], "HD12:_mistrial", "path", outcome.Result.Path)
	wantGaps(t, outcome)
}

func TestAccept_CT7_EveryEndWithoutAClassificationHasAGapBrief(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"acquit", "mistrial", "remand", "trap", "confidence", "fail", "exit", "wrong"} {
		outcome := try(t, open(t, host.Config{Pipeline: behave(t, "specter", "verdict", how)}), dispute())
		if got := outcome.Result.Final; got.Classification != "" || (got.Status != trial.Acquitted && got.Status != trial.Mistrial) {
			t.Errorf("%s: %+v", how, got)
		}
		wantGaps(t, outcome)
	}
	if outcome := try(t, open(t, host.Config{Pipeline: behave(t, "specter", "verdict", "affirm")}), dispute()); outcome.Result.GapBrief != nil {
		t.Error("an affirmed charge has a gap brief")
	}
}

func TestAccept_CT8_NoEdgeFires(t *testing.T) {
	t.Parallel()
	// Nothing fires at the hearing: the traversal continues with the verdict, next in file order.
	def := shipped(t, never("max rounds reached OR convergence")...)
	outcome := try(t, open(t, host.Config{Pipeline: def}), dispute())
	if !slices.Contains(outcome.Result.Path, "verdict") || outcome.Result.Final.Status == trial.Mistrial {
		t.Errorf("%+v, path %v", outcome.Result.Final, outcome.Result.Path)
	}
	check.Equal(t, outcome.Result.Rounds, 3, "rounds without an end of the hearing, want the most there may be")
	// Nothing fires at the last node.
	def = behave(t, "specter", "verdict", "acquit", never("verdict == acquit")...)
	outcome = try(t, open(t, host.Config{Pipeline: def}), dispute())
	if got := outcome.Result.Final; got.Status != trial.Mistrial || got.Cause != trial.CauseNoEdge {
		t.Errorf("%+v", got)
	}
	if outcome.Result.Error == nil || outcome.Result.Error.Node != "verdict" {
		t.Errorf("the error does not name the node: %+v", outcome.Result.Error)
	}
	wantGaps(t, outcome)
}

// never edits the edge with that condition so that it never fires.
func never(condition string) []string {
	line := "    condition: \"" + condition + "\"\n"
	return []string{line, line + "    evaluator: never\n"}
}

func TestAccept_CT1_RenamedNodesGiveTheSameVerdicts(t *testing.T) {
	t.Parallel()
	renamed := shipped(t)
	name := func(old string) string {
		if pipeline.IsEnd(old) || old == pipeline.Any {
			return old
		}
		return "station-" + old
	}
	renamed.Start = name(renamed.Start)
	for i := range renamed.Nodes {
		renamed.Nodes[i].Name = name(renamed.Nodes[i].Name)
	}
	for i := range renamed.Edges {
		renamed.Edges[i].From, renamed.Edges[i].To = name(renamed.Edges[i].From), name(renamed.Edges[i].To)
	}
	for i := range renamed.Zones {
		for j := range renamed.Zones[i].Nodes {
			renamed.Zones[i].Nodes[j] = name(renamed.Zones[i].Nodes[j])
		}
	}
	seed := must.Get(pipeline.Load("pipeline/testdata/seed-defect-court.yaml"))(t)
	ours, theirs, seeds := shared(t), open(t, host.Config{Pipeline: renamed}), open(t, host.Config{Pipeline: seed})
	for id, entry := range tour(t) {
		want := try(t, ours, entry.Case).Result
		for which, h := range map[string]*host.Host{"renamed": theirs, "the seed's": seeds} {
			got := try(t, h, entry.Case).Result
			if got.Final != want.Final || (got.Verdict == nil) != (want.Verdict == nil) || got.Verdict != nil && *got.Verdict != *want.Verdict {
				t.Errorf("%s, %s: %+v, want %+v", id, which, got.Final, want.Final)
			}
		}
	}
}

// A court without time is rejected in Go as it is in a pipeline: 0 is neither "at once" nor "without end".
func TestACourtWithoutTime(t *testing.T) {
	t.Parallel()
	for _, ttl := range []time.Duration{0, -1} {
		_, err := host.Open(t.Context(), host.Config{Court: func(c *pipeline.Court) { c.TTL = ttl }})
		if err == nil || !strings.Contains(err.Error(), "ttl: is ") || !strings.Contains(err.Error(), "must be above zero") {
			t.Errorf("ttl %s: %v", ttl, err)
		}
	}
}
