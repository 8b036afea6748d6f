package refit_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/refit"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

const file = "profile:jsonl"

func fileOf(format string) string { return "profile:" + format }

// open opens the shipped court with the profile of a generation.
func open(ctx context.Context, o *work.Opening) (*host.Host, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	config := host.Config{CacheDir: filepath.Join(user, "shadowcourt", "modules")}
	if config.Modules, err = bundle.FS(); err != nil {
		return nil, err
	}
	if text := o.Files[file]; text != nil {
		if config.Profile, err = profile.Parse(file, text); err != nil {
			return nil, err
		}
	}
	return host.Open(ctx, config)
}

// corrected is a store with tried and corrected cases of the held-out docket.
func corrected(t *testing.T, n int) *store.Store {
	t.Helper()
	ctx := t.Context()
	s, err := store.Open(ctx, store.Config{Database: filepath.Join(t.TempDir(), "shadowcourt.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if _, err := s.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	digest, err := s.AddBlob(ctx, []byte("\x00asm"))
	if err != nil {
		t.Fatal(err)
	}
	// The modules are those of open, whatever the generation names.
	if _, err := s.BeginWith(ctx, store.Generation{Parts: store.Parts{Modules: map[string]string{"specter": digest}}}); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("../../../examples/dockets/go-test-1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	u, err := s.Submit(ctx, store.Submission{Submitter: "ci", Name: "nightly", Format: "jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	var truths []string
	for e, err := range (&docket.Reader{}).JSONL("go-test-1.jsonl", f) {
		if err != nil {
			t.Fatal(err)
		}
		if len(truths) == n {
			break
		}
		if e.Truth == nil || e.Truth.Classification == "" {
			continue
		}
		truths = append(truths, e.Truth.Classification)
		e.Truth = nil
		if err := u.Add(ctx, &e, nil); err != nil {
			t.Fatal(err)
		}
	}
	d, _, err := u.Finish(ctx, "00", nil)
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, err := s.BeginBatch(ctx, "w")
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		o := &store.Outcome{Configuration: "c0"}
		for _, e := range b.Entries {
			o.Verdicts = append(o.Verdicts, store.NewVerdict{Digest: e.Digest, Trial: &trial.Trial{Result: trial.Result{
				ID: e.Case.ID, Final: trial.Final{Status: trial.Affirmed, Classification: e.Case.Light.Classification, Confidence: 0.5},
			}}})
		}
		if err := s.CompleteBatch(ctx, b, "w", o); err != nil {
			t.Fatal(err)
		}
	}
	for i, truth := range truths {
		if _, err := s.Correct(ctx, "ada", truth, []store.TrialID{{Docket: d.ID, Ordinal: i + 1}}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Corrections alone make a profile that the court is compared with on results that it was not learned on.
func TestProposeLearnsFromCorrections(t *testing.T) {
	t.Parallel()
	const n = 160
	s := corrected(t, n)
	var steps []string
	p, err := refit.Propose(t.Context(), refit.Config{Store: s, Open: open, File: fileOf, Progress: func(step string) { steps = append(steps, step) }})
	if err != nil {
		t.Fatal(err)
	}
	if p.Format != "jsonl" || p.File != file || p.Fitted+p.HeldOut != n || min(p.Fitted, p.HeldOut) < n/4 || p.Compared.Cases != p.HeldOut || p.Compared.Truth == nil || p.Compared.Truth.Cases != p.HeldOut {
		t.Errorf("%d results to learn from, %d held out, %+v", p.Fitted, p.HeldOut, p.Compared)
	}
	if _, err := profile.Parse("refit.yaml", p.Profile); err != nil {
		t.Error(err)
	}
	if !p.Learned || len(p.Compared.Flips) == 0 || len(steps) < 4 {
		t.Errorf("learned %v, %d flips, steps %q", p.Learned, len(p.Compared.Flips), steps)
	}
	t.Logf("%s: in force %d of %d right, with the new profile %d, %s", p.Model, p.Compared.Truth.CourtRight, p.HeldOut, p.Compared.Truth.CandidateRight, p.Compared.Finding)
}

func TestProposeNeedsEnough(t *testing.T) {
	t.Parallel()
	s := corrected(t, refit.Least-1)
	for format, known := range map[string]int{"jsonl": refit.Least - 1, "gotest": 0} {
		_, err := refit.Propose(t.Context(), refit.Config{Store: s, Open: open, Format: format, File: fileOf})
		if few, ok := errors.AsType[*refit.TooFewError](err); !ok || few.Known != known {
			t.Errorf("%s: %v", format, err)
		}
	}
}
