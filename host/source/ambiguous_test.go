package source_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/source"
)

// TestAccept_AL3_AmbiguousRevisions: a name that may be a branch or a tag at another commit is rejected with the names to choose from; a base that
// is found by itself is a branch.
func TestAccept_AL3_AmbiguousRevisions(t *testing.T) {
	top := t.TempDir()
	git := gitIn(t, top)
	git("init", "-q", "-b", "main")
	write(t, top, map[string]string{"a.go": "package a\n"})
	git("add", ".")
	git("commit", "-qm", "one")
	one := git("rev-parse", "HEAD")
	git("checkout", "-q", "-b", "topic")
	git("commit", "-qm", "two", "--allow-empty")
	two := git("rev-parse", "HEAD")
	git("update-ref", "refs/remotes/origin/main", one)
	for _, ref := range []string{"refs/tags/main", "refs/heads/origin/main", "refs/heads/" + one, "refs/tags/" + one[:7], "refs/heads/HEAD"} {
		git("update-ref", ref, two)
	}
	git("update-ref", "refs/heads/HEAD", one)
	git("tag", "topic")
	for name, choice := range map[string]string{
		"main": "refs/tags/main or refs/heads/main", "main~0": "refs/tags/main or refs/heads/main", "origin/main": "refs/heads/origin/main or refs/remotes/origin/main",
		one[:7]: "refs/tags/" + one[:7] + " or " + one,
	} {
		if got, err := source.CommitID(top, name); !errors.Is(err, source.ErrAmbiguous) || !strings.HasSuffix(err.Error(), ": use "+choice) {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{"HEAD": two, one: one, "refs/heads/main": one, "refs/tags/main": two, "topic": two, "topic~1": one} {
		if got, err := source.CommitID(top, name); err != nil || got != want {
			t.Errorf("%s: got %s, %v; expected %s", name, got, err, want)
		}
	}
	variables := map[string]string{}
	find := func() (source.Base, error) {
		return source.FindBase(t.Context(), top, func(name string) string { return variables[name] })
	}
	if base, err := find(); err != nil || base.Commit != one || base.Why != "merge base of HEAD and refs/remotes/origin/main" {
		t.Errorf("got %+v, %v", base, err)
	}
	variables["BITBUCKET_PR_DESTINATION_COMMIT"] = one[:7]
	if base, err := find(); !errors.Is(err, source.ErrAmbiguous) || !strings.HasPrefix(err.Error(), "BITBUCKET_PR_DESTINATION_COMMIT: ") {
		t.Errorf("got %+v, %v", base, err)
	}
}
