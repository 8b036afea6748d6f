package work

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// LeastKnown is how many known labels a refit needs: half of them to learn from, half to compare on.
const LeastKnown = 2 * fit.LeastCases

// mostLearned bounds the results that are read, the latest first.
const mostLearned = 4000

// RefitConfig of a refit. Store, Open and File are required.
type RefitConfig struct {
	Store *store.Store
	// Open opens a host, as that of a worker does.
	Open func(context.Context, *Opening) (*host.Host, error)
	// Format of the dockets to learn from, as internal/run names it; empty for the one with the most known labels.
	Format string
	// File gives the name in store.Parts.Files under which Open finds the profile for a format, such as "profile:gotest".
	File func(format string) string
	// Progress is told what is being done. Optional.
	Progress func(step string)
}

// Proposal is a profile, and what it would change.
type Proposal struct {
	Format, File string
	// Profile is YAML.
	Profile []byte
	// Fitted and HeldOut count the results that it was learned from, and compared on.
	Fitted, HeldOut int
	// Learned says whether the profile changes anything: nothing is learned where nothing predicts better.
	Learned bool
	Model   string
	// Compared is the court with the profile against the one in force, on the held-out results.
	Compared *calibrate.CandidateReport
}

// TooFewError says that too few labels are known.
type TooFewError struct {
	Format string
	Known  int
}

func (e *TooFewError) Error() string {
	return fmt.Sprintf("%d labels of dockets in one format (%s) are known, and a refit needs %d", e.Known, cmp.Or(e.Format, "any"), LeastKnown)
}

// Propose learns a profile. Fewer known labels than [LeastKnown] are a *TooFewError.
func Propose(ctx context.Context, config RefitConfig) (*Proposal, error) {
	say := config.Progress
	if say == nil {
		say = func(string) {}
	}
	say("reading corrected results")
	entries, err := readKnown(ctx, &config)
	if err != nil {
		return nil, err
	}
	file := config.File(config.Format)
	if len(entries) < LeastKnown {
		return nil, &TooFewError{config.Format, len(entries)}
	}
	learn, held := split(entries)
	say(fmt.Sprintf("learning from %d results", len(learn)))
	result, err := fit.Fit(ctx, learn, fit.Config{Name: "refit", Seed: 1, Progress: say})
	if err != nil {
		return nil, fmt.Errorf("learn a profile: %w", err)
	}
	var yaml bytes.Buffer
	if err := result.WriteYAML(&yaml); err != nil {
		return nil, err
	}
	p := &Proposal{
		Format: config.Format, File: file, Profile: yaml.Bytes(), Fitted: len(learn), HeldOut: len(held),
		Learned: result.Report.Learned, Model: result.Report.Model,
	}
	p.Compared, err = tryBoth(ctx, &config, held, p, say)
	return p, err
}

// readKnown gives the cases of one format whose right label is known, each with it. It sets the format where that is open.
func readKnown(ctx context.Context, config *RefitConfig) ([]docket.Entry, error) {
	known, err := config.Store.KnownLabels(ctx, store.EntryFilter{Limit: mostLearned})
	if err != nil {
		return nil, err
	}
	formats, counts := map[int64]string{}, map[string]int{}
	for i := range known {
		id := known[i].ID.Docket
		if _, ok := formats[id]; !ok {
			d, err := config.Store.Docket(ctx, id)
			if err != nil {
				return nil, err
			}
			formats[id] = d.Format
		}
		counts[formats[id]]++
	}
	if config.Format == "" {
		for _, format := range slices.Sorted(maps.Keys(counts)) {
			if config.Format == "" || counts[format] > counts[config.Format] {
				config.Format = format
			}
		}
	}
	var entries []docket.Entry
	for i := range known {
		k := &known[i]
		if formats[k.ID.Docket] != config.Format {
			continue
		}
		e, err := config.Store.Case(ctx, k.ID)
		if err != nil {
			return nil, err
		}
		e.Truth = &trial.Truth{Classification: k.Right}
		e.Case.ID = k.ID.String() // the same case may be in several dockets
		entries = append(entries, *e)
	}
	return entries, nil
}

// split puts every other group of cases aside. Cases of one group, such as a package, are on one side, so that nothing is
// compared on what was learned by heart; where that leaves too few on a side, the cases are parted one by one.
func split(entries []docket.Entry) (learn, held []docket.Entry) {
	learn, held = part(entries, func(i int) bool {
		h := fnv.New32a()
		_, _ = h.Write([]byte(entries[i].Case.Group))
		return h.Sum32()>>7&1 == 0
	})
	if min(len(learn), len(held)) < fit.LeastCases {
		return part(entries, func(i int) bool { return i%2 == 0 })
	}
	return learn, held
}

func part(entries []docket.Entry, isFirst func(int) bool) (first, second []docket.Entry) {
	for i := range entries {
		if isFirst(i) {
			first = append(first, entries[i])
			continue
		}
		second = append(second, entries[i])
	}
	return first, second
}

// tryBoth tries cases before the court in force, and before the same one with another profile.
func tryBoth(ctx context.Context, config *RefitConfig, held []docket.Entry, p *Proposal, say func(string)) (*calibrate.CandidateReport, error) {
	generation, err := config.Store.CurrentGeneration(ctx)
	if err != nil {
		return nil, err
	}
	g, err := config.Store.Generation(ctx, generation)
	if err != nil {
		return nil, err
	}
	g.Canary, g.Share = nil, 0
	opening, err := OpeningOf(ctx, config.Store, &g, config.Format)
	if err != nil {
		return nil, err
	}
	say("opening both courts")
	inForce, err := config.Open(ctx, opening)
	if err != nil {
		return nil, fmt.Errorf("open the court in force: %w", err)
	}
	defer func() { _ = inForce.Close(context.WithoutCancel(ctx)) }()
	other := *opening
	other.Files = maps.Clone(opening.Files)
	if other.Files == nil {
		other.Files = map[string][]byte{}
	}
	other.Files[p.File] = p.Profile
	candidate, err := config.Open(ctx, &other)
	if err != nil {
		return nil, fmt.Errorf("open the court with the new profile: %w", err)
	}
	defer func() { _ = candidate.Close(context.WithoutCancel(ctx)) }()
	sum := calibrate.NewCandidateComparison(calibrate.DefaultAlpha)
	for i := range held {
		say(fmt.Sprintf("trying %d of %d results before both courts", i+1, len(held)))
		t, err := inForce.Try(ctx, held[i].Case)
		if err != nil {
			return nil, err
		}
		if t.Beside, err = candidate.Try(ctx, held[i].Case); err != nil {
			return nil, err
		}
		t.Truth = held[i].Truth
		sum.Add(t, t)
	}
	return sum.Report(), nil
}
