package mine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// What a diff tells of the halves of a commit: whether its tests build without its product, and whether the older tests hold to anything
// that it changed.
func TestDiffersTellsWhatComesOfHalves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		product, tests [2]string // before and behind
		want           differing
	}{
		"a mended value": {
			[2]string{"func F() int { return 1 }", "func F() int { return 2 }"}, [2]string{"if F() != 1 {}", "if F() != 2 {}"}, differing{},
		},
		"a new function and its test": {
			[2]string{"func F() int { return 1 }", "func F() int { return 1 }\nfunc G() int { return 2 }"},
			[2]string{"F()", "F()\nif G() != 2 {}"}, differing{added: notBuilt, removed: settled},
		},
		"a test that is only new": {
			[2]string{"x = 1", "x = 2"}, [2]string{"F()", "F()\nif F() != 2 {}"}, differing{removed: settled},
		},
		"a function that is gone": {
			[2]string{"func F() int { return 1 }", "func (t *T) G(n int) int { return 1 }"}, [2]string{"if F() != 1 {}", "if one != 1 {}"}, differing{removed: notBuilt},
		},
		"a field": {
			[2]string{"type T struct {\n}", "type T struct {\n\tName string\n}"}, [2]string{"t := T{1}", "t := T{Name: 1}"}, differing{added: notBuilt},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			git := func(args ...string) string {
				cmd := exec.CommandContext(t.Context(), "git", args...)
				cmd.Dir = folder
				cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("git %v: %v\n%s", args, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			git("init", "-q", ".")
			var ids [2]string
			for i := range ids {
				for file, text := range map[string]string{"p.go": c.product[i], "p_test.go": c.tests[i]} {
					if err := os.WriteFile(filepath.Join(folder, file), []byte(text+"\n"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				git("add", "-A")
				git("commit", "-qm", "one", "--allow-empty")
				ids[i] = git("rev-parse", "HEAD")
			}
			r, err := history.OpenRepository(t.Context(), filepath.Join(folder, ".git"), t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			m := &Miner{repository: r, suite: &goSuite{}}
			got, err := m.differs(t.Context(), &commit{id: ids[1], parent: ids[0], product: []string{"p.go"}, tests: []string{"p_test.go"}})
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

// A condition is tried only where the code has something that it may matter to, and every condition is known.
func TestConditionsMatter(t *testing.T) {
	t.Parallel()
	m := &Miner{found: &history.Repo{}}
	for _, c := range m.conditions("any", []byte("os.TempDir()")) {
		if strings.HasPrefix(c.Name, "wrong time zone") || strings.HasPrefix(c.Name, "no network") {
			t.Errorf("%q may matter to a temporary folder", c.Name)
		}
	}
	for _, c := range m.conditions("any", nil) {
		t.Errorf("%q matters to no code at all", c.Name)
	}
	all := ""
	for _, k := range matters {
		all += strings.Join(k.words, " ") + " "
	}
	if n := len(m.conditions("any", []byte(all))); n < 50 {
		t.Errorf("only %d conditions", n)
	}
}
