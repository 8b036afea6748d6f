package measure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

var word = regexp.MustCompile(`\pL[\pL\pN_]+`)

// grams are the words and pairs of words of a case's documents.
func grams(c *abi.Case) map[string]bool {
	out := map[string]bool{}
	for i := range c.Documents {
		words := word.FindAllString(strings.ToLower(c.Documents[i].Text), -1)
		for k, w := range words {
			out[w] = true
			if k > 0 {
				out[words[k-1]+" "+w] = true
			}
		}
	}
	return out
}

// strongest are the n-grams of each label that another model of the same cases weighs most: one of centroids (Rocchio) over TF-IDF.
func strongest(entries []docket.Entry, n int) map[string][]string {
	standing, cases := map[string]float64{}, map[string]float64{}
	by := map[string]map[string]float64{} // n-gram, label
	for i := range entries {
		truth := entries[i].Truth.Classification
		cases[truth]++
		for g := range grams(&entries[i].Case) {
			standing[g]++
			if by[g] == nil {
				by[g] = map[string]float64{}
			}
			by[g][truth]++
		}
	}
	all, out := float64(len(entries)), map[string][]string{}
	for label, of := range cases {
		weight := func(g string) float64 {
			return (by[g][label]/of - (standing[g]-by[g][label])/(all-of)) * math.Log(all/standing[g])
		}
		list := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(weight(b), weight(a)), strings.Compare(a, b)) })
		out[label] = list[:min(n, len(list))]
	}
	return out
}

// appended writes a text into the first document, or into a new one.
func appended(c *abi.Case, text string) {
	if len(c.Documents) == 0 {
		c.Documents = append(c.Documents, abi.Document{Name: "log"})
	}
	c.Documents[0].Text += "\n" + text + "\n"
}

// The strongest n-grams of another model of the same cases are written into the documents. Some of them are no signals. Where the text decides, so do
// they, as docs/fitting.md says.
func TestAccept_QU2_TheNGramsOfAPeerCostAFittedCourtLittle(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/measure", "abi/odds")
	of := func(between string) func(h *halves, _ *abi.Profile) func(*abi.Case, string) {
		return func(h *halves, _ *abi.Profile) func(*abi.Case, string) {
			peer := strongest(h.fitted, 10)
			return func(c *abi.Case, truth string) { appended(c, strings.Join(peer[wrong(c, truth)], between)) }
		}
	}
	costLittle(t, attack{name: "n-grams, a line each", texts: 0.13, change: of("\n")}, attack{name: "n-grams in one line", texts: 0.13, change: of(" ")})
}

// The witnesses of the docket say what they said, and all state 0.99, so that what they know of their own doubt is lost: on the failures
// of Go tests that costs 5.1 points.
func TestAccept_QU2_OverconfidentWitnessesCostAFittedCourtLittle(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/measure", "abi/odds")
	costLittle(t, attack{name: "all witnesses state 0.99", most: 0.06, change: func(*halves, *abi.Profile) func(*abi.Case, string) {
		return func(c *abi.Case, _ string) {
			for i := range c.Evidence {
				if c.Evidence[i].Supports != "" {
					c.Evidence[i].RelevanceConfidence = 0.99
				}
			}
		}
	}})
}

// What is written to move the court counts nothing, while the rest of the text does.
func TestAccept_QU2_TheRestOfAStuffedTextCounts(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/measure", "abi/odds")
	all := shape("issue texts").Docket(22, 350)
	p, _ := written(t, Fit, all[:250])
	peer := strongest(all[:250], 10)
	without := try(t, p, attacked(all[250:], func(c *abi.Case, _ string) { c.Documents = nil }))
	with := try(t, p, attacked(all[250:], func(c *abi.Case, truth string) { appended(c, strings.Join(peer[wrong(c, truth)], "\n")) }))
	if before, after := rate(without.court, without.tried), rate(with.court, with.tried); after < before+0.25 {
		t.Errorf("right in %.3f without documents, %.3f with stuffed ones", before, after)
	}
}

// filler makes a text of phrases that is no dense passage of them.
const filler = "\nand then they went on with what was on the table, as on most other days of that month and of the one before it "

// spreadPhrases writes so many phrases between other words that the fitted model gets the most cases wrong by them.
func spreadPhrases(p *abi.Profile, tried []docket.Entry) (n int, change func(c *abi.Case, truth string)) {
	least := 2.0
	for _, k := range []int{1, 2, 3, 5, 10, 15, 30} {
		if now := rightBy(p, attacked(tried, stuffed(p, k, filler))); now < least {
			n, least = k, now
		}
	}
	return n, stuffed(p, n, filler)
}

// The strongest phrases of the profile stand between other words, in the number that does most harm. No more answers are lost than the fit
// says that any text could turn, but for what the numbers of cases leave open (two standard errors).
func TestAccept_QU2_SpreadPhrasesTurnNoMoreThanTheFitSays(t *testing.T) {
	t.Parallel()
	for _, h := range trusted(t) {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			p, before := h.profile(t), h.before(t)
			says := *h.lesson(t).report.TextTurns
			n, change := spreadPhrases(p, h.tried)
			after := try(t, p, attacked(h.tried, change))
			lost := rate(before.court, before.tried) - rate(after.court, after.tried)
			t.Logf("%d phrases between other words: %.3f right, %.3f without; the fit says that texts turn %.3f", n, rate(after.court, after.tried), rate(before.court, before.tried), says)
			if noise := 2 * math.Sqrt(says*(1-says)*(1/float64(len(h.fitted))+1/float64(before.tried))); lost > says+noise {
				t.Errorf("%.3f are lost, and the fit says %.3f", lost, says)
			}
			if h.name != "issue texts" && lost > 0.075 {
				t.Errorf("%.3f are lost, although texts do not decide these cases", lost)
			}
		})
	}
}

// Where texts are trusted, phrases between other words move many answers, as the fit says. A court that learned from no text is moved by none.
func TestAccept_QU2_WithoutTextNoDocumentMovesTheCourt(t *testing.T) {
	t.Parallel()
	learn := func(config FitConfig) (*abi.Profile, *FitReport) {
		config.Seed, config.Workers = 1, 2
		result := must.Get(Fit(t.Context(), read(t, "sentiment-fit"), config))(t)
		return result.Profile, &result.Report
	}
	texts, report := learn(FitConfig{TrustText: true})
	tried := read(t, "sentiment-test")
	_, change := spreadPhrases(texts, tried)
	harmed := attacked(tried, change)
	if lost := rightBy(texts, tried) - rightBy(texts, harmed); lost < 0.1 || *report.TextTurns < 0.1 {
		t.Fatalf("where texts are trusted, %.3f are lost; the fit says %.3f", lost, *report.TextTurns)
	}
	p, report := learn(FitConfig{NoText: true})
	if !report.Learned || len(p.Signals) > 0 || *report.TextTurns != 0 {
		t.Errorf("learned %v, with %d signals; texts turn %.3f", report.Learned, len(p.Signals), *report.TextTurns)
	}
	if got, want := verdicts(trials(t, p, harmed[:40])), verdicts(trials(t, p, tried[:40])); !slices.Equal(got, want) {
		t.Errorf("texts change verdicts of a court that learned from none:\n%s\nwithout them\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// However long a text is that a court reads, and however many signals stand in it, it ends no trial: Light's label would stand then.
func TestAccept_QU2_LongTextsEndNoTrial(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/measure", "abi/odds", "plugins")
	p := &abi.Profile{Name: "words", SignalCap: 0.3, SignalPassage: &abi.SignalPassage{Bytes: 96, Nats: 3}, Sources: []abi.SourceReliability{{
		Source: "rule", Share: 1, Cap: 3, Statements: []abi.SourceStatement{{Says: "bug", Given: []abi.LabelWeight{{Label: "bug", Weight: 0.8}, {Label: "flaky", Weight: 0.1}}}},
	}}}
	for i := range 500 { // most are short
		word := string([]byte{'a' + byte(i%26), 'a' + byte(i/26)})
		if i%5 == 0 {
			word += " " + word
		}
		p.Signals = append(p.Signals, abi.Signal{Phrase: word, Weights: []abi.LabelWeight{{Label: "bug", Weight: 0.3}}})
	}
	var list []docket.Entry
	for name, text := range map[string]string{"signals": "aa ba ca da aa aa ", "one letter": "a ", "a word": "aaaa", "lines": "\n"} {
		e := docket.Entry{Case: abi.Case{
			ID: name, Subject: "A run", Labels: []string{"bug", "flaky"}, Light: &abi.LightAnswer{Classification: "flaky", Confidence: 0.6},
			Evidence: []abi.Evidence{{SourceRef: "rule", Content: "A rule holds.", RelevanceConfidence: 0.7, Supports: "bug"}},
		}}
		for i := range 4 {
			e.Case.Documents = append(e.Case.Documents, abi.Document{Name: fmt.Sprint("log ", i), Text: strings.Repeat(text, 1<<20/len(text))})
		}
		list = append(list, e)
	}
	for _, x := range trials(t, p, list) {
		if x.Result.Final.Classification != "bug" {
			t.Errorf("%s: %+v: %v", x.Case.ID, x.Result.Final, x.Result.Error)
		}
	}
}
