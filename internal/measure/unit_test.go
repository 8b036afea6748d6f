package measure

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// A profile says what the model says, in every world: nothing is lost by
// writing it down but digits, what a cap cuts, signals of next to no weight, and dense passages.
func TestWhatIsWrittenIsWhatWasFitted(t *testing.T) {
	t.Parallel()
	dockets := map[string][]docket.Entry{"elements": byElements(200, 3)}
	for name, world := range worlds {
		dockets[name] = varied(world.Docket(3, 120), name)
	}
	for name, entries := range dockets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCorpus(entries)
			c.minePhrases(1)
			use := places(len(c.samples))
			m := c.learn(use, setting{sources: 2, stated: true, text: 3})
			p := c.profile(m, "p", use, mostNats)
			p.SignalPassage = nil // takes the densest passages out, by purpose
			profile := NewModel(p)
			for i := range c.samples {
				s := &c.samples[i]
				want := softmax(plus(m.rest(s, asStated), 1, m.told(s), 1))
				got := profile.Posterior(&c.samples[i].entry.Case)
				for j := range want {
					if math.Abs(got[j]-want[j]) > 0.02 {
						t.Fatalf("case %d: %v, want %v", i, got, want)
					}
				}
			}
		})
	}
}

// varied leaves every third case of one world a label less, so that labels differ from case to case.
func varied(entries []docket.Entry, name string) []docket.Entry {
	if name != "independent witnesses" {
		return entries
	}
	for i := range entries {
		c := &entries[i].Case
		last := c.Labels[len(c.Labels)-1]
		named := entries[i].Truth.Classification == last || c.Light.Classification == last
		for _, e := range c.Evidence {
			named = named || e.Supports == last
		}
		if i%3 == 0 && !named {
			c.Labels = c.Labels[:len(c.Labels)-1]
		}
	}
	return entries
}

// What is mined as a phrase of a text is what the court finds in it.
func TestPhrasesStandWhereTheCourtFindsThem(t *testing.T) {
	t.Parallel()
	c := newCorpus(shape("texts and witnesses").Docket(4, 60))
	c.minePhrases(2)
	if len(c.phrases) < 100 {
		t.Fatalf("only %d phrases", len(c.phrases))
	}
	finder := odds.FindPhrases(c.phrases)
	for i := range c.samples {
		found := make(map[int32]bool)
		for _, text := range texts(&c.samples[i].entry.Case) {
			finder.Scan(text, func(p, _, _ int) { found[int32(p)] = true })
		}
		for _, p := range c.samples[i].phrases {
			if !found[p] {
				t.Errorf("case %d: the court doesn't find %q", i, c.phrases[p])
			}
		}
		if len(found) != len(c.samples[i].phrases) {
			t.Errorf("case %d: the court finds %d phrases, %d were mined", i, len(found), len(c.samples[i].phrases))
		}
	}
}

func TestPhrasesOfAText(t *testing.T) {
	t.Parallel()
	out := make(map[string]struct{})
	addPhrases(out, lower("Dial tcp: connection REFUSED (errno 111) at 0x4f2a99 12:30:59.123456\nnext line, größer   x"), 3, nil)
	for _, want := range []string{"dial", "dial tcp", "tcp: connection", "refused (errno", "next line", "line, größer"} {
		if _, ok := out[want]; !ok {
			t.Errorf("%q is no phrase", want)
		}
	}
	for p := range out {
		if strings.ContainsAny(p, "0123456789") || strings.Contains(p, "\n") || strings.HasSuffix(p, " x") {
			t.Errorf("%q is a phrase", p)
		}
	}
}

// What only a few groups have is no phrase: it may be their name.
func TestPhrasesStandInSeveralGroups(t *testing.T) {
	t.Parallel()
	entries := shape("independent witnesses").Docket(3, 100)
	for i := range entries {
		group := i % 20
		entries[i].Case.Group = fmt.Sprint("g", group)
		text := "usual text"
		if group < 4 {
			text += " ofthreeorfour"
		}
		if group < 3 {
			text += " few"
		}
		entries[i].Case.Documents = []abi.Document{{Name: "log", Text: text}}
	}
	c := newCorpus(entries)
	c.minePhrases(2)
	if c.leastGroups() != 4 || !slices.Contains(c.phrases, "ofthreeorfour") || slices.Contains(c.phrases, "few") {
		t.Errorf("in at least %d groups: %q", c.leastGroups(), c.phrases)
	}
	for i := range entries {
		entries[i].Case.Group = ""
	}
	if c := newCorpus(entries); c.leastGroups() != 2 {
		t.Errorf("without groups %d", c.leastGroups())
	}
}

func TestGroupsAreNeverSplit(t *testing.T) {
	t.Parallel()
	c := newCorpus(shape("log excerpts").Docket(4, 200))
	part := c.folds(places(len(c.samples)), 5, 7)
	of, sizes := make(map[int]int), make([]int, 5)
	for i := range c.samples {
		sizes[part[i]]++
		if before, ok := of[c.samples[i].group]; ok && before != part[i] {
			t.Errorf("group %d is in parts %d and %d", c.samples[i].group, before, part[i])
		}
		of[c.samples[i].group] = part[i]
	}
	if slices.Min(sizes) < 20 || slices.Max(sizes) > 60 {
		t.Errorf("parts of %v cases", sizes)
	}
}

func TestWhatCannotBeFittedOn(t *testing.T) {
	t.Parallel()
	w := simulated{labels: labelNames(3), light: witness{accuracy: 0.6}}
	draw := func(n int, truth string) []docket.Entry {
		entries := w.Docket(1, n)
		for i := range entries {
			entries[i].Truth = &trial.Truth{Classification: truth}
		}
		return entries
	}
	for name, tc := range map[string]struct {
		entries []docket.Entry
		want    error
		text    string
	}{
		"no truth":                  {draw(30, ""), ErrNoTruth, "30 were read"},
		"a truth that is no label":  {draw(30, "elsewhere"), ErrNoTruth, "30 were read"},
		"too few":                   {draw(19, "beta"), ErrTooFew, "19 have a truth, 20 are needed"},
		"one label is always right": {draw(30, "beta"), ErrOneLabel, "beta, in all 30"},
		"nothing at all":            {nil, ErrNoTruth, "0 were read"},
		"labels without end":        {crowded(120, 300), ErrTooManyLabels, "304, at most 128"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Fit(t.Context(), tc.entries, FitConfig{})
			if !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("error %v, want %v with %q", err, tc.want, tc.text)
			}
		})
	}
}

// crowded is a docket of n cases with more labels, each of which every case has.
func crowded(n, more int) []docket.Entry {
	entries := shape("independent witnesses").Docket(3, n)
	for i := range entries {
		for j := range more {
			entries[i].Case.Labels = append(slices.Clip(entries[i].Case.Labels), fmt.Sprint("more-", j))
		}
	}
	return entries
}

// Odd dockets give a profile all the same: sources without a name, labels that
// differ in every case, hundreds of labels, one group, no Light.
func TestOddDocketsAreFitted(t *testing.T) {
	t.Parallel()
	base := shape("independent witnesses")
	for name, change := range map[string]func(i int, e *docket.Entry){
		"a source without a name": func(_ int, e *docket.Entry) { e.Case.Evidence[0].SourceRef = ":1" },
		"no Light":                func(_ int, e *docket.Entry) { e.Case.Light = nil },
		"one group":               func(_ int, e *docket.Entry) { e.Case.Group = "all" },
		"a witness called light":  func(_ int, e *docket.Entry) { e.Case.Evidence[0].SourceRef = "light" },
		"labels of its own in every case": func(i int, e *docket.Entry) {
			rename(e, func(label string) string { return fmt.Sprint(label, "-", i) })
		},
		"hundreds of labels": func(_ int, e *docket.Entry) {
			for j := range 300 {
				e.Case.Labels = append(slices.Clip(e.Case.Labels), fmt.Sprint("more-", j))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := base.Docket(8, 60)
			for i := range entries {
				change(i, &entries[i])
			}
			result, err := Fit(t.Context(), entries, FitConfig{})
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := result.WriteYAML(&text); err != nil {
				t.Fatal(err)
			}
			p, err := module.ParseProfile("profile.yaml", text.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			m := NewModel(p)
			right := 0
			for i := range entries {
				c := &entries[i].Case
				p := m.Posterior(c)
				if c.Labels[best(p)] == entries[i].Truth.Classification {
					right++
				}
			}
			if right < 36 {
				t.Errorf("right in %d of 60", right)
			}
		})
	}
}

func rename(e *docket.Entry, to func(string) string) {
	c := &e.Case
	labels := make([]string, len(c.Labels))
	for j := range labels {
		labels[j] = to(c.Labels[j])
	}
	c.Labels = labels
	c.Light = &abi.LightAnswer{Classification: to(c.Light.Classification), Confidence: c.Light.Confidence}
	for k := range c.Evidence {
		if c.Evidence[k].Supports != "" {
			c.Evidence[k].Supports = to(c.Evidence[k].Supports)
		}
	}
	e.Truth = &trial.Truth{Classification: to(e.Truth.Classification)}
}

// What a docket may hold is read back to the byte, and nothing of it stands
// raw in a file that people open in a terminal.
func TestAnyTextSurvivesTheProfile(t *testing.T) {
	t.Parallel()
	for _, ch := range []string{
		"\x00", "\a", "\n", "\x1b[31m", "\x7f", "\u0085", "\u009b", "\u00a0", "\u2028", "\u202e", "\u2066", "\ufeff", "\ufffe", "\U0001fffe",
		`"`, `\`, "'", "é", "\U0001f600", ": ", " #", "yes", "~", "- ", "{", "!!int 1", "*a", "&a", "1e3", "<<", "",
	} {
		want := "a" + ch
		list := []abi.LabelWeight{{Label: want, Weight: 0.25}, {Label: ch + "b", Weight: 0.75}}
		r := Fitted{Profile: &abi.Profile{
			Name: want, BaseRates: list, SignalCap: 1, Signals: []abi.Signal{{Phrase: want, Weights: list}},
			Sources: []abi.SourceReliability{{Source: want, Share: 1, Cap: 1, Statements: []abi.SourceStatement{{Says: want, Given: list}}}},
		}}
		var text bytes.Buffer
		if err := r.WriteYAML(&text); err != nil {
			t.Fatal(err)
		}
		got, err := module.ParseProfile("profile.yaml", text.Bytes())
		if err != nil {
			t.Errorf("%q: %v", want, err)
			continue
		}
		if got.Name != want || !slices.Equal(got.BaseRates, list) || got.Signals[0].Phrase != want || got.Sources[0].Source != want {
			t.Errorf("%q came back as %+v", want, got)
		}
		if i := strings.IndexFunc(text.String(), func(c rune) bool { return c != '\n' && !strconv.IsPrint(c) }); i >= 0 {
			t.Errorf("%q: byte %d of the file is not printable: %q", want, i, text.String()[i:i+4])
		}
	}
}

// An outcome model is written whole.
func TestAnOutcomeModelSurvivesTheProfile(t *testing.T) {
	t.Parallel()
	want, err := module.LoadProfile(filepath.Join("..", "..", "pipelines", "profiles", "go-test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := (&Fitted{Profile: want}).WriteYAML(&text); err != nil {
		t.Fatal(err)
	}
	got, err := module.ParseProfile("profile.yaml", text.Bytes())
	if err != nil || got.Outcomes == nil || !reflect.DeepEqual(got.Outcomes, want.Outcomes) {
		t.Errorf("%v: the model came back as %+v", err, got)
	}
}
