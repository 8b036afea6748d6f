package measure

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// court is the shipped one, opened once.
var court = sync.OnceValues(func() (*host.Host, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	return host.Open(context.Background(), host.Config{CacheDir: filepath.Join(user, "shadowcourt", "modules")})
})

// witnessed is a docket of n cases in the band with one witness, right with a probability. Light is right in three of five.
func witnessed(n int, right float64, r *rand.Rand) []docket.Entry {
	labels := []string{"leak", "load", "quota"}
	pick := func(truth int, right float64) string {
		if r.Float64() < right {
			return labels[truth]
		}
		return labels[(truth+1+r.IntN(2))%3]
	}
	entries := make([]docket.Entry, n)
	for i := range entries {
		truth := r.IntN(3)
		entries[i] = docket.Entry{
			Case: abi.Case{
				ID: fmt.Sprint("case-", i), Subject: "a disk that fills up", Labels: labels, Documents: []abi.Document{},
				Light: &abi.LightAnswer{Classification: pick(truth, 0.6), Confidence: 0.55 + 0.1*r.Float64(), Reasoning: "so it seems"},
				Evidence: []abi.Evidence{{
					SourceRef: "witness:1", Content: "the operator's word", RelevanceConfidence: 0.5 + 0.45*r.Float64(), Supports: pick(truth, right),
				}},
			},
			Truth: &trial.Truth{Classification: labels[truth]},
		}
	}
	return entries
}

// observe tries a docket by the real host.
func observe(t *testing.T, entries []docket.Entry, workers int) []Observation {
	t.Helper()
	h := must.Get(court())(t)
	var list []Observation
	for tried := range h.TryAll(t.Context(), func(yield func(docket.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}, workers) {
		must.Do(t, tried.Err)
		list = append(list, Observe(tried.Trial))
	}
	return list
}

func TestAccept_FT4_WithNothingToFindTheReportClaimsNoGain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	nothing := Measure(observe(t, witnessed(240, 1.0/3, r), 2), nil)
	must.Equal(t, nothing.Band.Court.Of, 240, "cases in the band")
	if nothing.Band.Finding == Better {
		t.Errorf("a gain is claimed where there is nothing to find: %+v", nothing.Band)
	}
	// The same docket with a witness that knows: now there is a gain, and it is claimed.
	r = rand.New(rand.NewPCG(3, 4))
	if knowing := Measure(observe(t, witnessed(240, 0.95, r), 2), nil); knowing.Band.Finding != Better {
		t.Errorf("with a witness that knows no gain is claimed: %+v", knowing.Band)
	}
}

// TestAccept_FT4_ChanceIsSeldomTakenForGain: of 400 courts that overturn Light at random, as often for the better as for the
// worse, about one in forty looks better by chance, and is called so.
func TestAccept_FT4_ChanceIsSeldomTakenForGain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	const courts = 400
	better, worse := 0, 0
	for range courts {
		var list []Observation
		for range 100 {
			light, court := "a", "a"
			if r.Float64() < 0.3 { // one of the two is right, at even odds
				if court = "b"; r.IntN(2) == 0 {
					light, court = "b", "a"
				}
			}
			list = append(list, tried(light, .6, court, .8, "a"))
		}
		switch Measure(list, nil).Band.Finding {
		case Better:
			better++
		case Worse:
			worse++
		case NotWorse:
		}
	}
	// 2.5 % of 400 are 10, with a standard deviation of 3.1.
	if better > 22 || worse > 22 {
		t.Errorf("of %d courts at chance %d are called better and %d worse", courts, better, worse)
	}
	if better+worse == 0 {
		t.Error("nothing is ever found")
	}
}

func TestReportIsTheSameAtAnyNumberOfWorkers(t *testing.T) {
	t.Parallel()
	entries := witnessed(60, 0.8, rand.New(rand.NewPCG(1, 2)))
	encode := func(workers int) string {
		return string(must.Get(json.Marshal(Measure(observe(t, entries, workers), &BandOptions{})))(t))
	}
	check.Equal(t, encode(1), encode(8), "with 1 worker", "with 8")
}

func TestTheTruthReachesNoVerdict(t *testing.T) {
	t.Parallel()
	entries := witnessed(40, 0.8, rand.New(rand.NewPCG(1, 3)))
	told := observe(t, entries, 2)
	for i := range entries {
		entries[i].Truth = &trial.Truth{Classification: entries[i].Case.Labels[i%3], ExpectedVerdict: abi.Mistrial}
	}
	for i, o := range observe(t, entries, 2) {
		if o.Final != told[i].Final || o.Decision != told[i].Decision || *o.Fuel != *told[i].Fuel {
			t.Errorf("case %d: with another truth %+v instead of %+v", i, o.Final, told[i].Final)
		}
	}
}

// secondLook is a Light that finds the quota where it is asked again, whatever the case.
type secondLook struct{}

func (secondLook) Answer(_ context.Context, req host.LightRequest) (host.LightResponse, error) {
	found := []abi.Evidence{{SourceRef: "second-look", Content: "quota exceeded for volume data-7", RelevanceConfidence: 0.95, Supports: "quota"}}
	account := &abi.RemandAnswer{}
	for _, q := range req.Feedback.Questions {
		account.Answers = append(account.Answers, abi.RemandReply{QuestionID: q.ID, Status: abi.Found, Evidence: found})
		found = nil
	}
	for _, c := range req.Feedback.Challenged {
		account.Challenged = append(account.Challenged, abi.ChallengedReply{EvidenceIndex: c.EvidenceIndex, Status: abi.ItemStands})
	}
	return host.LightResponse{Answer: abi.LightAnswer{Classification: "quota", Confidence: 0.9, Reasoning: "now I see"}, Remand: account}, nil
}

// TestAccept_ME3_RemandsOfTheRealCourt: Light said leak, on its word alone. The court sends the cases back, and Light then
// says quota: right in one of them, wrong in the other.
func TestAccept_ME3_RemandsOfTheRealCourt(t *testing.T) {
	t.Parallel()
	user := must.Get(os.UserCacheDir())(t)
	h := must.Get(host.Open(t.Context(), host.Config{Light: secondLook{}, CacheDir: filepath.Join(user, "shadowcourt", "modules")}))(t)
	defer h.Close(context.Background())
	var list []Observation
	for i, truth := range []string{"quota", "leak"} {
		outcome, err := h.Try(t.Context(), abi.Case{
			ID: fmt.Sprint("disk-", i), Subject: "a disk that fills up", Labels: []string{"leak", "quota"},
			Light:     &abi.LightAnswer{Classification: "leak", Confidence: 0.6, Reasoning: "so it seems"},
			Evidence:  []abi.Evidence{{SourceRef: "graph:1", Content: "usage rises", RelevanceConfidence: 0.3, Supports: "leak"}},
			Documents: []abi.Document{{Name: "log", Text: "12:00 write failed\nquota exceeded for volume data-7\n"}},
		})
		must.Do(t, err)
		outcome.Truth = &trial.Truth{Classification: truth}
		list = append(list, Observe(outcome))
	}
	m := MetricsOf(list)
	must.Equal(t, m.Remands.Cases, 2, "of 2 cases were remanded", list)
	wantShare(t, "wrong before, right after", m.Remands.ToRight, 1, 2)
	wantShare(t, "right before, wrong after", m.Remands.ToWrong, 1, 2)
	wantShare(t, "flips", m.Flips.Rate, 2, 2)
}
