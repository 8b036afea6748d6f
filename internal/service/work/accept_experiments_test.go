package work_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
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
			must(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
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
		out, err := cmd.Output()
		must(t, err)
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

// TestAccept_EX1_DocketsOfTheOperatorsRepositoryRunExperiments: on the commit that they name, and no others.
func TestAccept_EX1_DocketsOfTheOperatorsRepositoryRunExperiments(t *testing.T) {
	t.Parallel()
	folder, commits := repository(t)
	var mu sync.Mutex
	var opened, closed []string
	s := openStore(t)
	_, stop := start(t, s, func(c *work.Config) {
		c.Workers, c.Open = 1, withExperiments
		c.Laboratories = &work.Laboratories{Repository: "shop", Open: func(ctx context.Context, revision string) (work.Laboratory, error) {
			mu.Lock()
			opened = append(opened, revision)
			mu.Unlock()
			l, err := experiment.Open(ctx, experiment.Config{Source: folder, Commit: revision, Base: commits[0], Mode: experiment.All, Budget: experiment.DefaultPerCase})
			return &noted{l, func() {
				mu.Lock()
				closed = append(closed, revision)
				mu.Unlock()
			}}, err
		}}
	})
	try := func(repository, revision string) *trial.Trial {
		d := wait(t, s, submit(t, s, store.Submission{Format: "jsonl", Repository: repository, Revision: revision}, []docket.Entry{failing()}).ID)
		tried, err := s.Trial(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1})
		must(t, err)
		if tried.Trial == nil {
			t.Fatalf("docket %d: %s", d.ID, tried.Fault)
		}
		return tried.Trial
	}
	for _, d := range []struct{ repository, revision string }{{"", commits[1]}, {"other", commits[1]}, {"shop", ""}} {
		if r := try(d.repository, d.revision).Result; len(r.Experiments) > 0 {
			t.Errorf("a docket of %q at %q ran %+v", d.repository, d.revision, r.Experiments)
		}
	}
	mu.Lock()
	if opened != nil {
		t.Fatalf("laboratories were opened for %q", opened)
	}
	mu.Unlock()
	// The working tree has the third commit, whose failure says 8.
	r := try("shop", commits[1]).Result
	same := 0
	for _, e := range r.Experiments {
		if e.Product == abi.Head && e.Outcome == abi.OutcomeSame {
			same++
		}
	}
	if c := r.Final.Classification; same == 0 || c != "" && c != "pb001" && c != "ab001" { // no run tells which of these two
		t.Errorf("%s after %+v", r.Final.Classification, r.Experiments)
	}
	for _, revision := range []string{"main", "HEAD", "--help", strings.Repeat("0", 40)} {
		r := try("shop", revision).Result
		if len(r.Experiments) > 0 || r.Proposal == nil && r.Final.Classification == "" {
			t.Errorf("at %q: %+v", revision, r)
		}
		if r.Proposal != nil && !strings.Contains(r.Proposal.WhyNot, revision) {
			t.Errorf("at %q nothing is run: %s", revision, r.Proposal.WhyNot)
		}
	}
	stop()
	slices.Sort(opened)
	slices.Sort(closed)
	if len(opened) != 5 || !slices.Equal(opened, closed) {
		t.Errorf("laboratories were opened for %q, and closed for %q", opened, closed)
	}
}

// noted tells when a laboratory is closed.
type noted struct {
	*experiment.Lab
	closed func()
}

func (n *noted) Close() error {
	n.closed()
	return n.Lab.Close()
}
