package work_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// repository makes a git repository with a module whose product one commit broke, and a third commit. It gives its folder and the commits.
func repository(t *testing.T) (folder string, commits []string) {
	t.Helper()
	folder = t.TempDir()
	for _, sum := range []string{"0", "1", "2"} {
		for name, content := range map[string]string{
			"go.mod":       "module example.com/cart\n\ngo 1.24\n",
			"cart.go":      "package cart\n\nfunc Total(prices []int) int {\n\tsum := " + sum + "\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}\n",
			"cart_test.go": "package cart\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total([]int{1, 2, 3}); got != 6 {\n\t\tt.Errorf(\"Total = %d, want 6\", got)\n\t}\n}\n",
		} {
			must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
		}
		for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "sum " + sum}} {
			cmd := exec.CommandContext(t.Context(), "git", args...)
			cmd.Dir = folder
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %s: %v: %s", args, err, out)
			}
		}
		cmd := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD")
		cmd.Dir = folder
		out := must.Get(cmd.Output())(t)
		commits = append(commits, strings.TrimSpace(string(out)))
	}
	return folder, commits
}

// withExperiments opens hosts as the command does where the operator allows experiments.
func withExperiments(ctx context.Context, o *work.Opening) (*host.Host, error) {
	return openWith(ctx, o, func(config *host.Config) (err error) {
		config.Experiments = o.Experiments
		config.Court = func(c *pipeline.Court) { c.RejectionThreshold = 0 }
		config.Profile, err = goTestProfile()
		return err
	})
}

// failing is the case of the test that the second commit broke.
func failing() docket.Entry {
	return docket.Entry{Case: abi.Case{
		ID: "example.com/cart.TestTotal", Subject: "TestTotal fails in example.com/cart", Labels: []string{"pb001", "ab001", "si001", "nd001"},
		Light:     &abi.LightAnswer{Classification: "nd001", Confidence: 0.4},
		Documents: []abi.Document{{Name: "log", Text: "    cart_test.go:7: Total = 7, want 6\n--- FAIL: TestTotal (0.00s)\n"}},
	}, LabelNames: map[string]string{}}
}

// withLaboratories has a worker run experiments for dockets of the shop.
func withLaboratories(t *testing.T, s *store.Store, open func(ctx context.Context, revision string) (work.Laboratory, error)) (stop func()) {
	t.Helper()
	_, stop = start(t, s, func(c *work.Config) {
		c.Workers, c.Open, c.Laboratories = 1, withExperiments, &work.Laboratories{Repository: "shop", Open: open}
	})
	return stop
}

// tryFailing tries a docket of the failing case.
func tryFailing(t *testing.T, s *store.Store, repository, revision string) *trial.Result {
	t.Helper()
	d := wait(t, s, submit(t, s, store.Submission{Format: "jsonl", Repository: repository, Revision: revision}, []docket.Entry{failing()}).ID)
	tried := must.Get(s.Trial(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1}))(t)
	if tried.Trial == nil {
		t.Fatalf("docket %d: %s", d.ID, tried.Fault)
	}
	return &tried.Trial.Result
}

// lab notes when it is opened and closed. With begun its experiments take until the trial is ended.
type lab struct {
	*experiment.Lab
	note  func(string)
	begun func()
}

func (l *lab) Run(ctx context.Context, c *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	if l.begun == nil {
		return l.Lab.Run(ctx, c, e)
	}
	l.begun()
	<-ctx.Done()
	l.note("ended")
	return abi.ExperimentResult{}, ctx.Err()
}

func (l *lab) Close() error {
	l.note("closed")
	return l.Lab.Close()
}

// TestAccept_EX1_DocketsOfTheOperatorsRepositoryRunExperiments: on the commit that they name, and no others.
func TestAccept_EX1_DocketsOfTheOperatorsRepositoryRunExperiments(t *testing.T) {
	t.Parallel()
	folder, commits := repository(t)
	var opened, closed atomic.Int32
	s := openStore(t)
	stop := withLaboratories(t, s, func(ctx context.Context, revision string) (work.Laboratory, error) {
		opened.Add(1)
		l, err := experiment.Open(ctx, experiment.Config{Source: folder, Commit: revision, Base: commits[0], Mode: experiment.All, Budget: experiment.DefaultPerCase})
		return &lab{Lab: l, note: func(string) { closed.Add(1) }}, err
	})
	for _, d := range [][2]string{{"", commits[1]}, {"other", commits[1]}, {"shop", ""}} {
		if r := tryFailing(t, s, d[0], d[1]); len(r.Experiments) > 0 || opened.Load() > 0 {
			t.Errorf("a docket of %q ran %+v", d, r.Experiments)
		}
	}
	// The working tree has the third commit, whose failure says 8.
	r := tryFailing(t, s, "shop", commits[1])
	same := slices.ContainsFunc(r.Experiments, func(e trial.Experiment) bool { return e.Product == abi.Head && e.Outcome == abi.OutcomeSame })
	if c := r.Final.Classification; !same || c != "" && c != "pb001" && c != "ab001" { // no run tells which of these two
		t.Errorf("%s after %+v", r.Final.Classification, r.Experiments)
	}
	for _, revision := range []string{"main", "HEAD", "--help", strings.Repeat("0", 40)} {
		r := tryFailing(t, s, "shop", revision)
		if len(r.Experiments) > 0 || r.Proposal == nil && r.Final.Classification == "" || r.Proposal != nil && !strings.Contains(r.Proposal.WhyNot, revision) {
			t.Errorf("at %q: %+v", revision, r)
		}
	}
	stop()
	if opened.Load() != 5 || closed.Load() != 5 {
		t.Errorf("%d laboratories were opened, and %d closed", opened.Load(), closed.Load())
	}
}

// TestAUsedUpBudgetIsThatOfOneDocket submits a case at a commit twice; only the second docket has a budget that is large enough.
func TestAUsedUpBudgetIsThatOfOneDocket(t *testing.T) {
	t.Parallel()
	folder, commits := repository(t)
	s := openStore(t)
	budgets := []time.Duration{time.Nanosecond, experiment.DefaultPerCase} // the first one lets the first step of a docket begin
	withLaboratories(t, s, func(ctx context.Context, revision string) (work.Laboratory, error) {
		given := budgets[0]
		budgets = budgets[1:]
		return experiment.Open(ctx, experiment.Config{Source: folder, Commit: revision, Mode: experiment.Reruns, Budget: given})
	})
	for i, want := range []abi.ExperimentOutcome{abi.OutcomeNotRun, abi.OutcomeSame} {
		if r := tryFailing(t, s, "shop", commits[1]); len(r.Experiments) == 0 || r.Experiments[0].Outcome != want {
			t.Errorf("docket %d: %+v, want %s", i+1, r.Experiments, want)
		}
	}
}

// TestACancelledDocketFreesItsWorker: the experiment that it runs is ended, its laboratory closed, and the next docket tried.
func TestACancelledDocketFreesItsWorker(t *testing.T) {
	t.Parallel()
	folder, commits := repository(t)
	s := openStore(t)
	begun, notes := make(chan struct{}), make(chan string, 10)
	withLaboratories(t, s, func(ctx context.Context, revision string) (work.Laboratory, error) {
		l, err := experiment.Open(ctx, experiment.Config{Source: folder, Commit: revision, Mode: experiment.Reruns, Budget: time.Minute})
		return &lab{l, func(note string) { notes <- note }, sync.OnceFunc(func() { close(begun) })}, err
	})
	d := submit(t, s, store.Submission{Format: "jsonl", Repository: "shop", Revision: commits[1]}, []docket.Entry{failing()})
	next := submit(t, s, store.Submission{Format: "jsonl", Repository: "other"}, []docket.Entry{failing()})
	<-begun
	must.Do(t, s.Cancel(t.Context(), d.ID))
	if first, second := <-notes, <-notes; first != "ended" || second != "closed" {
		t.Errorf("the laboratory was %s, and then %s", first, second)
	}
	if next = wait(t, s, next.ID); next.Tried != 1 {
		t.Errorf("the next docket is %+v", next)
	}
	if d = wait(t, s, d.ID); d.State != store.Cancelled || d.Tried != 0 {
		t.Errorf("the cancelled docket is %+v", d)
	}
}
