package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// The models, in the order of the tables.
const (
	court = "the court"
	tfidf = "logistic regression, TF-IDF"
)

func peers() []string {
	return []string{"logistic regression", tfidf, "gradient boosting", "naive Bayes", "stacked"}
}

// answers are the probabilities of each case's labels.
type answers [][]float64

// half is a docket to fit on and one to try, and what came of it.
type half struct {
	pair
	plain    map[string]answers            // by model
	attacked map[string]map[string]answers // by attack, then model
	few      map[int]map[string]answers    // by number of labelled cases
	shuffled []map[string]answers
	without  answers // the court without a profile
	noText   answers
	trusts   []trust
}

// trust is how a court does that trusts texts so far: without an attack, and with phrases between other words.
type trust struct {
	turns           float64 // the share of answers that a made-up text turns, by the fit
	plain, attacked answers
}

type measuring struct {
	bench  *study.Bench
	python string
	dir    string
	files  int
}

// quality measures all pairs of dockets, on the cases that are in the band.
func quality(ctx context.Context, bench *study.Bench, python string, pairs []pair) ([]study.Table, error) {
	dir, err := os.MkdirTemp("", "shadowcourt-quality-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	m := &measuring{bench: bench, python: python, dir: dir}
	var list []*half
	for _, p := range pairs {
		p.tried = slices.DeleteFunc(p.tried, func(e docket.Entry) bool {
			return e.Case.Light == nil || e.Case.Light.Confidence < 0.5 || e.Case.Light.Confidence >= 0.85
		})
		h := &half{pair: p}
		if err := m.measure(ctx, h); err != nil {
			return nil, fmt.Errorf("%s: %w", h.name, err)
		}
		list = append(list, h)
	}
	return qualityTables(list), nil
}

const shuffles = 3

// sizes of the learning curve; all cases come with the plain figures.
func sizes() []int { return []int{10, 20, 50, 100, 200} }

func (m *measuring) measure(ctx context.Context, h *half) error {
	fmt.Fprintln(os.Stderr, "fitting for", h.name)
	result, err := measure.Fit(ctx, h.fitted, measure.FitConfig{Seed: 1, Workers: 2})
	if err != nil {
		return err
	}
	plain, err := m.predict(ctx, h.fitted, peers(), h.tried)
	if err != nil {
		return err
	}
	h.plain, h.attacked = plain.of(0), map[string]map[string]answers{}
	if h.plain[court], err = m.court(ctx, host.Config{Profile: result.Profile}, h.tried); err != nil {
		return err
	}
	if h.without, err = m.court(ctx, host.Config{}, h.tried); err != nil {
		return err
	}
	dockets := [][]docket.Entry{}
	list := attacks(result.Profile, plain.Strongest, costliest(result.Profile, h.tried))
	for _, a := range list {
		dockets = append(dockets, attacked(h.tried, a.change))
	}
	under, err := m.predict(ctx, h.fitted, []string{tfidf}, dockets...)
	if err != nil {
		return err
	}
	for i, a := range list {
		fmt.Fprintln(os.Stderr, "attack:", a.name)
		h.attacked[a.name] = under.of(i)
		if h.attacked[a.name][court], err = m.court(ctx, host.Config{Profile: result.Profile}, dockets[i]); err != nil {
			return err
		}
	}
	h.trusts = []trust{{*result.Report.TextTurns, h.plain[court], h.attacked[spreadName][court]}}
	if err := m.trusting(ctx, h); err != nil {
		return err
	}
	return m.learning(ctx, h)
}

// trusting fits without texts, and with texts that are trusted.
func (m *measuring) trusting(ctx context.Context, h *half) error {
	fmt.Fprintln(os.Stderr, "trusting texts, and not")
	none, err := measure.Fit(ctx, h.fitted, measure.FitConfig{Seed: 1, Workers: 2, NoText: true})
	if err != nil {
		return err
	}
	if h.noText, err = m.court(ctx, host.Config{Profile: none.Profile}, h.tried); err != nil {
		return err
	}
	result, err := measure.Fit(ctx, h.fitted, measure.FitConfig{Seed: 1, Workers: 2, TrustText: true})
	if err != nil {
		return err
	}
	p, t := result.Profile, trust{turns: *result.Report.TextTurns}
	if t.plain, err = m.court(ctx, host.Config{Profile: p}, h.tried); err != nil {
		return err
	}
	t.attacked, err = m.court(ctx, host.Config{Profile: p}, attacked(h.tried, spread(p, costliest(p, h.tried))))
	h.trusts = append(h.trusts, t)
	return err
}

// learning fits on few cases and on shuffled labels. The court's answers are those of the fitted model, without trials.
func (m *measuring) learning(ctx context.Context, h *half) (err error) {
	r := rand.New(rand.NewPCG(1, 3)) //nolint:gosec // reproducible draws, no secret
	order := r.Perm(len(h.fitted))
	h.few = map[int]map[string]answers{}
	for _, n := range sizes() {
		fmt.Fprintln(os.Stderr, "cases:", n)
		var some []docket.Entry
		for _, i := range order[:n] {
			some = append(some, h.fitted[i])
		}
		if h.few[n], err = m.both(ctx, some, h.tried); err != nil {
			return err
		}
	}
	for range shuffles {
		fmt.Fprintln(os.Stderr, "shuffled labels")
		dealt := slices.Clone(h.fitted)
		for i, from := range r.Perm(len(dealt)) {
			dealt[i].Truth = h.fitted[from].Truth
		}
		made, err := m.both(ctx, dealt, h.tried)
		if err != nil {
			return err
		}
		h.shuffled = append(h.shuffled, made)
	}
	return nil
}

func (m *measuring) both(ctx context.Context, fitted, tried []docket.Entry) (map[string]answers, error) {
	made, err := m.predict(ctx, fitted, []string{"logistic regression", tfidf}, tried)
	if err != nil {
		return nil, err
	}
	model := measure.NewModel(nothing())
	if result, err := measure.Fit(ctx, fitted, measure.FitConfig{Seed: 1, Workers: 2}); err == nil {
		model = measure.NewModel(result.Profile)
	} else if len(fitted) >= measure.LeastCases {
		return nil, err
	}
	out := made.of(0)
	for i := range tried {
		out[court] = append(out[court], model.Posterior(&tried[i].Case))
	}
	return out, nil
}

// court tries the cases. A verdict states one confidence; the other labels share the rest. Where the court leaves a case open, Light's answer
// counts, as sure as the court was.
func (m *measuring) court(ctx context.Context, config host.Config, entries []docket.Entry) (answers, error) {
	var list answers
	err := m.bench.Try(ctx, config, entries, 0, func(t *trial.Trial) {
		label, confidence := t.Result.Final.Classification, t.Result.Final.Confidence
		if label == "" {
			label, confidence = t.Result.Light.Classification, 0
			if v := t.Result.Verdict; v != nil {
				confidence = v.Confidence
			}
		}
		rest := (1 - confidence) / float64(len(t.Case.Labels)-1)
		p := slices.Repeat([]float64{rest}, len(t.Case.Labels))
		if j := slices.Index(t.Case.Labels, label); j >= 0 {
			p[j] = max(confidence, rest+1e-9) // it is the answer, however unsure
		}
		list = append(list, p)
	})
	return list, err
}

// predicted is what peers.py writes of a job.
type predicted struct {
	Predictions map[string]map[string]answers `json:"predictions"` // by model, then docket
	Strongest   map[string][]string           `json:"strongest"`   // n-grams by label
	tests       []string
}

func (p *predicted) of(test int) map[string]answers {
	out := map[string]answers{}
	for model, by := range p.Predictions {
		out[model] = by[p.tests[test]]
	}
	return out
}

func (m *measuring) predict(ctx context.Context, fitted []docket.Entry, models []string, tests ...[]docket.Entry) (*predicted, error) {
	type job struct {
		Train  string   `json:"train"`
		Tests  []string `json:"tests"`
		Models []string `json:"models"`
	}
	j := job{Models: models}
	var err error
	if j.Train, err = m.write(fitted); err != nil {
		return nil, err
	}
	for _, t := range tests {
		path, err := m.write(t)
		if err != nil {
			return nil, err
		}
		j.Tests = append(j.Tests, path)
	}
	input, err := json.Marshal([]job{j})
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, m.python, "lab/courts/peers.py")
	c.Stdin, c.Stderr = bytes.NewReader(input), os.Stderr
	output, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("run peers.py: %w", err)
	}
	var list []predicted
	if err := json.Unmarshal(output, &list); err != nil {
		return nil, fmt.Errorf("read what peers.py writes: %w", err)
	}
	list[0].tests = j.Tests
	return &list[0], nil
}

// write writes a docket into a file of its own.
func (m *measuring) write(entries []docket.Entry) (string, error) {
	m.files++
	path := filepath.Join(m.dir, fmt.Sprintf("%03d.jsonl", m.files))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	w := render.NewCases(f)
	for i := range entries {
		if err := w.Write(&trial.Trial{Case: entries[i].Case, Truth: entries[i].Truth}); err != nil {
			return "", err
		}
	}
	return path, f.Close()
}
