package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/mine"
)

func savedCases(t *testing.T, half history.Half) []history.Repo {
	t.Helper()
	repos, err := history.Read("saved", half)
	if err != nil {
		t.Fatal(err)
	}
	if len(repos) == 0 {
		t.Fatalf("nothing is saved of the %s half", half)
	}
	return repos
}

// TestAccept_RH2_TruthsFollowFromSavedRuns: the truth of each saved case is what its recipe and its runs give, every report can be read
// as a user's, and no two cases have one id.
func TestAccept_RH2_TruthsFollowFromSavedRuns(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, half := range []history.Half{history.Learning, history.Reporting} {
		for _, repo := range savedCases(t, half) {
			for i := range repo.Cases {
				c := &repo.Cases[i]
				truth, err := history.Derive(c)
				if err != nil {
					t.Errorf("%s: %v", c.ID, err)
				}
				if diff := cmp.Diff(c.Truth, truth); diff != "" {
					t.Errorf("%s: -saved +derived:\n%s", c.ID, diff)
				}
				if _, err := c.Failure.Entry(); err != nil {
					t.Errorf("%s: %v", c.ID, err)
				}
				if seen[c.ID] || c.Repository != repo.Name {
					t.Errorf("%s of %s is there twice or stands at %s", c.ID, c.Repository, repo.Name)
				}
				seen[c.ID] = true
			}
		}
	}
}

// TestAccept_RH4_TheHalvesShareNoRepository: neither those that are mined nor those that are saved, each of which stands in the half that
// it is mined for.
func TestAccept_RH4_TheHalvesShareNoRepository(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range mine.Repositories() {
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
	}
	for _, half := range []history.Half{history.Learning, history.Reporting} {
		for _, repo := range savedCases(t, half) {
			if of, ok := mine.Half(repo.Name); !ok || of != half {
				t.Errorf("%s is saved in the %s half, and is mined for %q", repo.Name, half, of)
			}
		}
	}
}
