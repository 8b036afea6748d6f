package measure

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// halves are a docket to fit on and one to try.
type halves struct {
	name          string
	fitted, tried []docket.Entry
}

// lesson is what halves taught, which several tests ask for: it is fitted and tried once.
type lesson struct {
	fit, try sync.Once
	profile  *abi.Profile
	report   *FitReport
	tally    tally
}

var lessons sync.Map // by the name of the halves

func (h *halves) lesson(t *testing.T) *lesson {
	t.Helper()
	kept, _ := lessons.LoadOrStore(h.name, &lesson{})
	l := kept.(*lesson)
	l.fit.Do(func() { l.profile, l.report = written(t, Fit, h.fitted) })
	if l.profile == nil {
		t.Fatalf("nothing was fitted on %s", h.name)
	}
	return l
}

// profile is what was learned from the fitted half.
func (h *halves) profile(t *testing.T) *abi.Profile {
	t.Helper()
	return h.lesson(t).profile
}

// before counts how the cases of the other half come out by it.
func (h *halves) before(t *testing.T) tally {
	t.Helper()
	l := h.lesson(t)
	l.try.Do(func() { l.tally = try(t, l.profile, h.tried) })
	return l.tally
}

// issueTexts is a simulated world whose cases are nothing but a text.
const issueTexts = "issue texts"

// trusted are the halves that attacks are measured on: a simulated world with witnesses, and every third of the real cases of a docket;
// in the long tier each, also of a world with texts, and the real failures of Go tests.
func trusted(t *testing.T) []halves {
	t.Helper()
	long := tier.Whole()
	step := 3
	if long {
		step = 1
	}
	witnesses := shape("independent witnesses").Docket(21, 500)
	list := []halves{
		{"independent witnesses", witnesses[:250], every(witnesses[250:], step)},
		{"sentiment", read(t, "sentiment-fit"), every(read(t, "sentiment-test"), step)},
	}
	if long {
		texts := shape(issueTexts).Docket(22, 500)
		list = append(list, halves{issueTexts, texts[:250], texts[250:]}, halves{"go", read(t, "go-fit-1"), read(t, "go-test-1")})
	}
	return list
}

func read(t *testing.T, name string) []docket.Entry {
	t.Helper()
	f := must.Get(os.Open(filepath.Join("..", "..", "examples", "dockets", name+".jsonl")))(t)
	defer func() { _ = f.Close() }()
	var r docket.Reader
	var list []docket.Entry
	for e, err := range r.JSONL(name, f) {
		must.Do(t, err)
		list = append(list, e)
	}
	return list
}

// attacked changes a copy of each case.
func attacked(entries []docket.Entry, attack func(c *abi.Case, truth string)) []docket.Entry {
	list := slices.Clone(entries)
	for i := range list {
		c := &list[i].Case
		c.Evidence, c.Documents = slices.Clone(c.Evidence), slices.Clone(c.Documents)
		attack(c, list[i].Truth.Classification)
	}
	return list
}

// wrong is a label that isn't true, another one in each case.
func wrong(c *abi.Case, truth string) string {
	others := slices.DeleteFunc(slices.Clone(c.Labels), func(label string) bool { return label == truth })
	sum := 0
	for _, b := range []byte(c.ID) {
		sum += int(b)
	}
	return others[sum%len(others)]
}

// liars are witnesses that the profile doesn't know, who all name the same wrong label and are sure of it.
func liars(n int) func(c *abi.Case, truth string) {
	return func(c *abi.Case, truth string) {
		for i := range n {
			c.Evidence = append(c.Evidence, abi.Evidence{
				SourceRef: fmt.Sprintf("stranger-%d:1", i), Content: fmt.Sprintf("stranger %d is sure of it", i), RelevanceConfidence: 0.99, Supports: wrong(c, truth),
			})
		}
	}
}

// stuffed appends the strongest phrases of a profile for a wrong label to the first document, as lines or in one.
func stuffed(p *abi.Profile, n int, between string) func(c *abi.Case, truth string) {
	return func(c *abi.Case, truth string) {
		label := wrong(c, truth)
		weight := func(s *abi.Signal) float64 {
			v := make([]float64, len(c.Labels))
			odds.AddSignal(v, c.Labels, s)
			return v[slices.Index(c.Labels, label)] - v[slices.Index(c.Labels, truth)]
		}
		signals := slices.Clone(p.Signals)
		slices.SortStableFunc(signals, func(a, b abi.Signal) int { return cmp.Compare(weight(&b), weight(&a)) })
		var phrases []string
		for i := range min(n, len(signals)) {
			if weight(&signals[i]) > 0 {
				phrases = append(phrases, signals[i].Phrase)
			}
		}
		appended(c, strings.Join(phrases, between))
	}
}

// attack is what somebody does to every case, by the cases that the court was fitted on and the profile that it has.
type attack struct {
	name   string
	change func(h *halves, p *abi.Profile) func(c *abi.Case, truth string)
	most   float64 // that it may cost; 0 is five points
	texts  float64 // where a case is nothing but a text; 0 is most
}

// costLittle checks that each attack costs a fitted court at most five points, or what the attack says.
func costLittle(t *testing.T, attacks ...attack) {
	t.Helper()
	for _, h := range trusted(t) {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			p, before := h.profile(t), h.before(t)
			for _, a := range attacks {
				after := try(t, p, attacked(h.tried, a.change(&h, p)))
				t.Logf("%s: %.3f of %d cases right, %.3f without", a.name, rate(after.court, after.tried), after.tried, rate(before.court, before.tried))
				if lost := rate(before.court, before.tried) - rate(after.court, after.tried); lost > cmp.Or(map[string]float64{issueTexts: a.texts}[h.name], a.most, 0.05) {
					t.Errorf("%s: %.3f are lost", a.name, lost)
				}
			}
		})
	}
}

// Witnesses that nobody measured, one or ten, lie and are sure of it.
func TestAccept_QU1_UnknownLiarsCostAFittedCourtLittle(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/measure", "abi/odds")
	of := func(n int) func(*halves, *abi.Profile) func(*abi.Case, string) {
		return func(*halves, *abi.Profile) func(*abi.Case, string) { return liars(n) }
	}
	costLittle(t, attack{name: "one liar", change: of(1)}, attack{name: "ten liars", change: of(10)})
}

// The strongest phrases of the profile are written into the documents.
func TestAccept_QU2_StuffedPhrasesCostAFittedCourtLittle(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/measure", "abi/odds")
	of := func(between string) func(*halves, *abi.Profile) func(*abi.Case, string) {
		return func(_ *halves, p *abi.Profile) func(*abi.Case, string) { return stuffed(p, 15, between) }
	}
	costLittle(t, attack{name: "phrases, a line each", change: of("\n")}, attack{name: "phrases in one line", change: of(" ")})
}

// Where nothing is learned the profile lists the sources of the docket. Strangers beside them cost little then; without the list they decide.
func TestAccept_QU1_UnknownLiarsCostLittleWhereNothingIsLearned(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/measure", "abi/odds")
	all := shape("independent witnesses").Docket(23, 400)
	p, report := written(t, Fit, shuffled(all[:250], 3))
	if report.Learned || len(p.Seen) != 3 {
		t.Fatalf("learned %v, seen %q", report.Learned, p.Seen)
	}
	tried := all[250:]
	before := try(t, p, tried)
	unlisted := *p
	unlisted.Seen = nil
	for _, n := range []int{1, 10} {
		with, without := try(t, p, attacked(tried, liars(n))), try(t, &unlisted, attacked(tried, liars(n)))
		t.Logf("%d liars: %.3f right, %.3f without them, %.3f without the list", n, rate(with.court, with.tried), rate(before.court, before.tried), rate(without.court, without.tried))
		if lost := rate(before.court, before.tried) - rate(with.court, with.tried); lost > 0.05 {
			t.Errorf("%d liars cost %.3f", n, lost)
		}
		if rate(without.court, without.tried) > rate(before.court, before.tried)-0.15 {
			t.Errorf("%d liars cost little without the list", n)
		}
	}
}
