package main

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
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
				if err := history.Validate(c); err != nil {
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

// TestAccept_RH4_TheHalvesShareNoRepository: no repository, no commit and no report stands in both, whatever its repository is called.
func TestAccept_RH4_TheHalvesShareNoRepository(t *testing.T) {
	t.Parallel()
	stands := map[string]history.Half{} // repositories, commits and reports
	for _, half := range []history.Half{history.Learning, history.Reporting} {
		for _, repo := range savedCases(t, half) {
			for i := range repo.Cases {
				c := &repo.Cases[i]
				marks := []string{repo.Name, c.Fix, c.Culprit, c.Failure.Text}
				for _, tree := range c.Trees {
					marks = append(marks, tree.Start, tree.Commit)
				}
				for _, mark := range marks {
					if of, ok := stands[mark]; ok && of != half && mark != "" {
						t.Errorf("%s has %.60q, which stands in the %s half, too", c.ID, mark, of)
					}
					stands[mark] = half
				}
			}
		}
	}
}
