package host_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// spy collects what the modules get.
type spy struct {
	mu    sync.Mutex
	calls []host.CallRecord
}

func (s *spy) observe(r host.CallRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Input, r.Output = bytes.Clone(r.Input), bytes.Clone(r.Output)
	s.calls = append(s.calls, r)
}

func (s *spy) of(call abi.Call, persona string) []host.CallRecord {
	return slices.DeleteFunc(slices.Clone(s.calls), func(r host.CallRecord) bool {
		return r.Call != call || r.Persona != persona
	})
}

// elements is a case with one item for each element, each with a word of its own.
func elements() (abi.Case, map[abi.Element]string) {
	words := map[abi.Element]string{
		abi.Fire: "fire-sentinel", abi.Water: "water-sentinel", abi.Earth: "earth-sentinel", abi.Air: "air-sentinel", abi.Diamond: "diamond-sentinel",
	}
	c := dispute()
	c.Evidence = nil
	for _, e := range []abi.Element{abi.Fire, abi.Water, abi.Earth, abi.Air, abi.Diamond} {
		c.Evidence = append(c.Evidence, abi.Evidence{
			SourceRef: "witness-" + string(e), Content: words[e] + " says quota", RelevanceConfidence: 0.6, Supports: "quota", Element: e,
		})
	}
	return c, words
}

// contesters says which persona's contest request holds each word.
func contesters(s *spy, words map[abi.Element]string) map[abi.Element][]string {
	got := make(map[abi.Element][]string)
	for _, persona := range []string{"challenger", "abyss", "bulwark", "specter"} {
		for _, r := range s.of(abi.CallContest, persona) {
			for e, word := range words {
				if bytes.Contains(r.Input, []byte(word)) {
					got[e] = append(got[e], persona)
				}
			}
		}
	}
	return got
}

func TestAccept_CT3_EachPersonaContestsExactlyItsItems(t *testing.T) {
	t.Parallel()
	want := map[abi.Element]string{
		abi.Water:   "challenger", // against the charge, so the prosecution may
		abi.Earth:   "abyss",
		abi.Air:     "bulwark",
		abi.Fire:    "abyss", // nobody's element challenges fire
		abi.Diamond: "abyss", // the judge contests nothing
	}
	c, words := elements()
	_, s := tryShared(t, c)
	if len(s.of(abi.CallNode, "challenger")) == 0 || len(s.of(abi.CallNode, "abyss")) == 0 {
		t.Fatal("Challenger and Abyss were not called")
	}
	for e, persona := range want {
		if got := contesters(s, words)[e]; !slices.Equal(got, []string{persona}) {
			t.Errorf("the item of %s is contested by %v, want %s", e, got, persona)
		}
	}

	// An item for the charge is not the prosecution's to contest.
	c.Evidence[1].Supports = "leak"
	_, s = tryShared(t, c)
	if got := contesters(s, words)[abi.Water]; !slices.Equal(got, []string{"abyss"}) {
		t.Errorf("a water item for the charge is contested by %v, want abyss", got)
	}

	// Another element moves an item; none at all counts as earth.
	for _, move := range []struct {
		to      abi.Element
		persona string
	}{{abi.Air, "bulwark"}, {abi.Water, "challenger"}, {"", "abyss"}} {
		moved, words := elements()
		moved.Evidence[2].Element = move.to
		_, s := tryShared(t, moved)
		if got := contesters(s, words)[abi.Earth]; !slices.Equal(got, []string{move.persona}) {
			t.Errorf("moved to %q the item is contested by %v, want %s", move.to, got, move.persona)
		}
	}
}

// Who contests only items whose sources were measured is not asked, unless one claims a quote that is not there. A single stranger among
// them brings all of the persona's items into the call.
func TestAccept_CT3_MeasuredItemsAreContestedAtTheHearingAlone(t *testing.T) {
	t.Parallel()
	c, words := elements()
	p := &abi.Profile{Name: "measured", SignalCap: 1}
	for _, e := range c.Evidence {
		p.Sources = append(p.Sources, abi.SourceReliability{Source: e.SourceRef, Share: 1, Stated: &abi.LogitMap{Slope: 1}, Cap: 1})
	}
	for name, tc := range map[string]struct {
		item int
		ref  string
		by   map[abi.Element]string
	}{
		"all are measured":   {2, "witness-earth", nil},
		"a stranger":         {2, "stranger", map[abi.Element]string{abi.Fire: "abyss", abi.Earth: "abyss", abi.Diamond: "abyss"}},
		"a claimed quote":    {3, "witness-air:log:L1", map[abi.Element]string{abi.Air: "bulwark"}},
		"a name that begins": {1, "witness-watery", map[abi.Element]string{abi.Water: "challenger"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, s := c, &spy{}
			own.Evidence = slices.Clone(c.Evidence)
			own.Evidence[tc.item].SourceRef = tc.ref
			h := open(t, host.Config{Profile: p, Observe: s.observe, Pipeline: behave(t, "bulwark", "hearing", "quarrel")})
			outcome := try(t, h, own)
			got := contesters(s, words)
			for e := range words {
				if by := strings.Join(got[e], " "); by != tc.by[e] {
					t.Errorf("the item of %s is contested by %q, want %q", e, by, tc.by[e])
				}
			}
			hearing := outcome.Passes[0].Hearing
			if hearing == nil || !slices.ContainsFunc(hearing.Rounds[0].NewChallenges, func(ch abi.Challenge) bool { return ch.By == "bulwark" && ch.EvidenceIndex == 0 }) {
				t.Errorf("a measured item can't be challenged at the hearing: %+v", hearing)
			}
		})
	}
}

func TestAccept_CT6_DiscoverySeesNoConclusion(t *testing.T) {
	t.Parallel()
	c := dispute()
	const confidence = 0.7312659
	c.Subject = "subject-sentinel"
	c.Light = &abi.LightAnswer{Classification: "leak", Confidence: confidence, Reasoning: "reasoning-sentinel at 0.7312659"}
	for i := range c.Evidence {
		c.Evidence[i].Content += " item-sentinel"
		c.Evidence[i].SourceRef += "-source-sentinel"
	}
	outcome, s := tryShared(t, c)
	seen := s.of(abi.CallNode, "bulwark")
	if len(seen) == 0 || seen[0].Node != "discover" {
		t.Fatal("discovery was not held")
	}
	in := seen[0].Input
	if !bytes.Contains(in, []byte("quota exceeded for volume data-7")) || !bytes.Contains(in, []byte("quota")) {
		t.Error("discovery does not see documents and labels")
	}
	float := binary.BigEndian.AppendUint64(nil, math.Float64bits(confidence))
	narrative := outcome.Passes[0].Indictment.ProsecutionNarrative
	if len(narrative) < 20 {
		t.Fatalf("the narrative is too short to look for: %q", narrative)
	}
	own := binary.BigEndian.AppendUint64(nil, math.Float64bits(outcome.Passes[0].Indictment.Confidence))
	for what, bad := range map[string][]byte{
		"the subject": []byte("subject-sentinel"), "Light's reasoning": []byte("reasoning-sentinel"),
		"the digits of Light's confidence": []byte("7312659"), "Light's confidence": float,
		"an item": []byte("item-sentinel"), "a source": []byte("source-sentinel"),
		"the prosecution's narrative": []byte(narrative[:20]), "the prosecution's confidence": own,
		"the case's id": []byte("dispute"),
	} {
		if bytes.Contains(in, bad) {
			t.Errorf("%s is in the bytes that discovery gets", what)
		}
	}
	// The same words are in what the prosecution sees: the search finds what is there.
	if first := s.of(abi.CallNode, "challenger")[0].Input; !bytes.Contains(first, []byte("reasoning-sentinel")) || !bytes.Contains(first, float) {
		t.Error("the prosecution does not see Light's artifacts")
	}
}

// Modules get the tables of experiments where they can use them: with offers or with results, and not otherwise.
func TestTablesOfExperimentsComeWithOffersAndResults(t *testing.T) {
	t.Parallel()
	p := must.Get(module.LoadProfile(filepath.Join("..", "pipelines", "profiles", "go-test.yaml")))(t)
	for name, tc := range map[string]struct {
		experiments host.Experiments
		with        bool // each persona has offers or results
	}{
		"none can be run": {nil, false},
		"it fails again":  {laboratory{world: func(abi.Experiment) abi.ExperimentOutcome { return abi.OutcomeSame }}, true},
	} {
		s := &spy{}
		try(t, open(t, host.Config{Profile: p, Experiments: tc.experiments, Observe: s.observe}), totalFails())
		with, without, contests := 0, 0, 0
		for _, r := range s.calls {
			switch r.Call {
			case abi.CallNode:
				req := must.Get(codec.DecodeNodeRequest(r.Input, 0))(t)
				switch usable := len(req.Offers) + len(req.Case.Experiments); {
				case usable == 0 && req.Profile.Outcomes == nil:
					without++
				case usable > 0 && req.Profile.Outcomes != nil && len(req.Profile.Outcomes.Patterns) == len(p.Outcomes.Patterns):
					with++
				default:
					t.Errorf("%s: %s has the model %v beside %d offers and results", name, r.Node, req.Profile.Outcomes, usable)
				}
			case abi.CallContest:
				req, err := codec.DecodeContestRequest(r.Input, 0)
				if contests++; err != nil || req.Profile == nil || req.Profile.Outcomes != nil {
					t.Errorf("%s: a contest gets %+v, %v", name, req.Profile, err)
				}
			default:
			}
		}
		if contests == 0 || (with > 0) != tc.with || (without > 0) == tc.with {
			t.Errorf("%s: %d calls with the model, %d without, %d contests", name, with, without, contests)
		}
	}
}
