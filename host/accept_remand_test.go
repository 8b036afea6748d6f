package host_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

// deepLog begins with more of one symptom than a pass looks at; behind them stands another.
func deepLog(behind string) string {
	var b strings.Builder
	for i := range 6 {
		fmt.Fprintf(&b, "    cart_test.go:%d: item %s: got 1, want 2\n", 10+i, strings.Repeat("x", i+1))
	}
	b.WriteString(behind)
	b.WriteString("--- FAIL: TestCart (0.00s)\n")
	return b.String()
}

// A remand changes the classification where the documents hold what speaks for
// another, deeper than the first pass looked, and not where they don't.
func TestAccept_HD8_ARemandFindsWhatTheFirstPassDidNotReach(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{LightPath: rca(t), Pipeline: behave(t, "specter", "verdict", "remand", "rejection_threshold: 0.50", "rejection_threshold: 0.10")})
	const refused = "    cart_test.go:90: dial tcp 10.0.0.7:5432: connect: connection refused\n"
	for name, test := range map[string]struct{ behind, after string }{
		"held":     {refused, "si001"},
		"not held": {"", "pb001"},
	} {
		c := abi.Case{
			ID: "deep", Subject: "TestCart fails", Labels: []string{"pb001", "ab001", "si001", "nd001"},
			Documents: []abi.Document{{Name: "log", Text: deepLog(test.behind)}},
		}
		outcome := try(t, h, c)
		got := outcome.Result
		if got.Error != nil || got.Light.Classification != "pb001" || len(got.LightAfter) == 0 {
			t.Fatalf("%s: %+v, %+v, then %+v", name, got.Error, got.Light, got.LightAfter)
		}
		check.Equal(t, got.LightAfter[0].Classification, test.after, name, "after the remand")
		brought := slices.ContainsFunc(outcome.Light[1].Gathered, func(e abi.Evidence) bool {
			return strings.Contains(e.Content, "connection refused") && e.Supports == "si001" && e.SourceRef == "seeker-report:log:L7"
		})
		check.Equal(t, brought, test.behind != "", name, "the remand brought", outcome.Light[1].Gathered)
	}
}

// No line that the case's evidence quotes is gathered again, unless another label is read out of it.
func TestTheLightPathHoldsNoLineTwice(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{LightPath: rca(t)})
	const line = "    cart_test.go:9: got 1, want 2"
	for supports, gathered := range map[string]bool{"pb001": false, "nd001": true, "": true} {
		c := abi.Case{
			ID: "twice", Subject: "TestCart fails", Labels: []string{"pb001", "ab001", "si001", "nd001"},
			Documents: []abi.Document{{Name: "log", Text: line + "\n        for the cart of three\n"}},
			Evidence:  []abi.Evidence{{SourceRef: "log:L1", Content: line, RelevanceConfidence: 0.55, Supports: supports}},
		}
		found := try(t, h, c).Light[0].Gathered
		if again := slices.ContainsFunc(found, func(e abi.Evidence) bool { return strings.Contains(e.Content, line) }); again != gathered {
			t.Errorf("where it stands for %q: %+v", supports, found)
		}
	}
}

// What an investigation does not give again on a later pass it has taken back.
func TestALaterPassTakesBackAnEarlierOne(t *testing.T) {
	t.Parallel()
	h := openLit(t, host.Config{}, map[string]string{"investigate": "rethink"}, "H2", "H6", "H10", "H11", "H12")
	found := try(t, h, unclassified()).Light[0].Gathered
	if len(found) != 1 || found[0].Content != "third pass" || found[0].Element != abi.Water {
		t.Errorf("after three passes the pass has %+v", found)
	}
}

// lightFunc is a Light that can answer again.
type lightFunc func(req host.LightRequest) (host.LightResponse, error)

func (f lightFunc) Answer(_ context.Context, req host.LightRequest) (host.LightResponse, error) {
	return f(req)
}

// accountFor answers every question and every challenged item of a remand.
func accountFor(f *abi.RemandFeedback, found ...abi.Evidence) *abi.RemandAnswer {
	a := &abi.RemandAnswer{}
	for _, q := range f.Questions {
		a.Answers = append(a.Answers, abi.RemandReply{QuestionID: q.ID, Status: abi.Found, Evidence: found})
		found = nil
	}
	for _, ch := range f.Challenged {
		a.Challenged = append(a.Challenged, abi.ChallengedReply{EvidenceIndex: ch.EvidenceIndex, Status: abi.ItemStands})
	}
	return a
}

func TestRemandAsksLightAgainUntilNoneIsLeft(t *testing.T) {
	t.Parallel()
	asked := 0
	light := lightFunc(func(req host.LightRequest) (host.LightResponse, error) {
		asked++
		if req.Feedback == nil || req.Previous == nil {
			t.Error("a remand without feedback or the answer before")
		}
		// It claims more confidence and brings nothing: it is held at what it said before.
		answer := abi.LightAnswer{Classification: "load", Confidence: 0.99, Reasoning: "believe me"}
		return host.LightResponse{Answer: answer, Remand: accountFor(req.Feedback)}, nil
	})
	h := open(t, host.Config{Pipeline: behave(t, "specter", "verdict", "remand"), Light: light})
	outcome := try(t, h, dispute())
	got := outcome.Result
	if asked != 2 || got.Remands != 2 || len(got.LightAfter) != 2 || len(outcome.Passes) != 3 {
		t.Fatalf("asked %d times, %d remands, %d answers, %d passes", asked, got.Remands, len(got.LightAfter), len(outcome.Passes))
	}
	if got.Final.Status != trial.Mistrial || got.Final.Cause != trial.CauseRemandsExhausted {
		t.Errorf("%+v", got.Final)
	}
	check.Equal(t, got.LightAfter[0], (trial.Answer{Classification: "load", Confidence: 0.65}), "an answer without new evidence became")
	check.Equal(t, outcome.Passes[1].Indictment.ChargedDefectType, "load", "the second pass charges")
	wantGaps(t, outcome)
}

// A remand for which the handoffs would not last is not offered: a case that could be decided must not end for want of them.
func TestRemandsAreWithinTheHandoffs(t *testing.T) {
	t.Parallel()
	light := lightFunc(func(req host.LightRequest) (host.LightResponse, error) {
		answer := abi.LightAnswer{Classification: "load", Confidence: 0.6, Reasoning: "another one"}
		return host.LightResponse{Answer: answer, Remand: accountFor(req.Feedback)}, nil
	})
	for limit, want := range map[string]int{"8": 0, "13": 1, "24": 2} {
		def := behave(t, "specter", "verdict", "remand", "max_handoffs: 24", "max_handoffs: "+limit)
		got := try(t, open(t, host.Config{Pipeline: def, Light: light}), dispute()).Result
		if got.Remands != want || got.Final.Cause != trial.CauseRemandsExhausted {
			t.Errorf("with %s handoffs: %d remands, %d handoffs, %+v", limit, got.Remands, got.Handoffs, got.Final)
		}
	}
}

func TestRemandDecidesActivationAnew(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		confidence float64
		status     trial.Status
	}{"sure now": {0.9, trial.Accepted}, "hopeless now": {0.2, trial.Rejected}} {
		light := lightFunc(func(req host.LightRequest) (host.LightResponse, error) {
			found := abi.Evidence{SourceRef: "second look", Content: "the quota was lowered", RelevanceConfidence: 0.9, Supports: "quota"}
			answer := abi.LightAnswer{Classification: "quota", Confidence: test.confidence}
			return host.LightResponse{Answer: answer, Remand: accountFor(req.Feedback, found)}, nil
		})
		h := open(t, host.Config{Pipeline: behave(t, "specter", "verdict", "remand"), Light: light})
		if got := try(t, h, dispute()).Result; got.Final.Status != test.status || got.Remands != 1 {
			t.Errorf("%s: %+v after %d remands", name, got.Final, got.Remands)
		}
	}
}

func TestALightThatFailsARemandIsAMistrial(t *testing.T) {
	t.Parallel()
	for name, light := range map[string]lightFunc{
		"an error": func(host.LightRequest) (host.LightResponse, error) {
			return host.LightResponse{}, errors.New("out of office")
		},
		"no account": func(host.LightRequest) (host.LightResponse, error) {
			return host.LightResponse{Answer: abi.LightAnswer{Classification: "load", Confidence: 0.6}}, nil
		},
		"a question left out": func(host.LightRequest) (host.LightResponse, error) {
			return host.LightResponse{Answer: abi.LightAnswer{Classification: "load", Confidence: 0.6}, Remand: &abi.RemandAnswer{}}, nil
		},
		"a label of another case": func(req host.LightRequest) (host.LightResponse, error) {
			return host.LightResponse{Answer: abi.LightAnswer{Classification: "other", Confidence: 0.6}, Remand: accountFor(req.Feedback)}, nil
		},
	} {
		h := open(t, host.Config{Pipeline: behave(t, "specter", "verdict", "remand"), Light: light})
		got := try(t, h, dispute()).Result
		if got.Final.Status != trial.Mistrial || got.Final.Cause != trial.CauseLight || got.Error == nil {
			t.Errorf("%s: %+v, %+v", name, got.Final, got.Error)
		}
	}
}

func TestLightIsAskedWhereTheCaseHasNone(t *testing.T) {
	t.Parallel()
	c := dispute()
	c.Light = nil
	h := shared(t)
	check.Is(t, check.Err(h.Try(context.Background(), c)), host.ErrNoLight, "without a Light")
	light := lightFunc(func(host.LightRequest) (host.LightResponse, error) {
		return host.LightResponse{Answer: abi.LightAnswer{Classification: "leak", Confidence: 0.9}}, nil
	})
	if got := try(t, open(t, host.Config{Light: light}), c).Result.Final; got.Status != trial.Accepted {
		t.Errorf("%+v", got)
	}
}

func TestABadCaseIsRejectedWithEveryFault(t *testing.T) {
	t.Parallel()
	c := dispute()
	c.Light = &abi.LightAnswer{Classification: "elsewhere", Confidence: 0.6}
	c.Evidence[1].Supports = "nowhere"
	_, err := shared(t).Try(context.Background(), c)
	var invalid *abi.ValidationError
	if !errors.As(err, &invalid) || len(invalid.Problems) != 2 {
		t.Fatalf("%v", err)
	}
	for i, path := range []string{"light.classification", "evidence[1].supports"} {
		check.Equal(t, invalid.Problems[i].Path.String(), path, "problem", i, "at", invalid.Problems[i].Path)
	}
}

func TestACancelledTrialIsAnErrorAndNoVerdict(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	h := open(t, host.Config{
		Pipeline: behave(t, "specter", "verdict", "spin"),
		Observe: func(r host.CallRecord) {
			if strings.HasPrefix(r.Node, "hearing") || r.Call == abi.CallEdges && r.Node == "hearing" {
				cancel()
			}
		},
	})
	outcome, err := h.Try(ctx, dispute())
	if !errors.Is(err, context.Canceled) || outcome != nil {
		t.Errorf("%v, %v", outcome, err)
	}
}

// What Light withdraws of its own items is no evidence any more. Of the others' items it withdraws nothing.
func TestLightTakesBackOnlyItsOwn(t *testing.T) {
	t.Parallel()
	own := abi.Evidence{SourceRef: "light-first look", Content: "the quota looks low", RelevanceConfidence: 0.6, Supports: "quota"}
	c := dispute()
	answer := *c.Light
	c.Light = nil
	var challenged []abi.ChallengedItem
	light := lightFunc(func(req host.LightRequest) (host.LightResponse, error) {
		if req.Feedback == nil {
			return host.LightResponse{Answer: answer, Evidence: []abi.Evidence{own}}, nil
		}
		account := accountFor(req.Feedback)
		for i := range account.Challenged {
			account.Challenged[i].Status = abi.ItemWithdrawn
		}
		challenged = req.Feedback.Challenged
		return host.LightResponse{Answer: answer, Remand: account}, nil
	})
	h := open(t, host.Config{Pipeline: behave(t, "specter", "verdict", "remand"), Light: light})
	outcome := try(t, h, c)
	if len(outcome.Passes) < 2 || len(challenged) == 0 {
		t.Fatalf("%d passes, challenged %+v", len(outcome.Passes), challenged)
	}
	first, second := outcome.Passes[0].Indictment.Evidence, outcome.Passes[1].Indictment.Evidence
	for _, ch := range challenged {
		item := first[ch.EvidenceIndex]
		stays := slices.ContainsFunc(second, func(i abi.IndictmentItem) bool { return i.SourceRef == item.SourceRef && i.Content == item.Content })
		if stays == (item.SourceRef == own.SourceRef) {
			t.Errorf("%s is challenged and withdrawn, and stays: %v", item.SourceRef, stays)
		}
	}
	if n := len(c.Evidence); len(first) != n+1 || len(second) != n {
		t.Errorf("%d items, then %d, of a case with %d", len(first), len(second), n)
	}
}
