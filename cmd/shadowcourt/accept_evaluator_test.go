package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// The commands of examples/evaluator run as its page shows them: the evaluator in Go is built, tries its docket, and the record of that
// binds module and prompt, verifies and replays.
func TestAccept_DI6_ThePageOfTheEvaluatorWorks(t *testing.T) {
	t.Parallel()
	tier.Long(t, "examples/evaluator", "abi/guest", "sdk")
	dir, root := t.TempDir(), repositoryRoot(t)
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name != ".git" {
			if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
				t.Skip(err) // a system without links
			}
		}
	}
	commands := regexp.MustCompile(`(?m)^    (.*)$`).FindAllStringSubmatch(page(t, "examples/evaluator/README.md"), -1)
	var printed strings.Builder
	for _, c := range commands {
		printed.WriteString(shell(t, dir, "("+c[1]+") && echo done"))
	}
	text := printed.String()
	for _, says := range []string{"58 tried cases Light was right in 36", "the court in 49", "holds and is complete: 61 entries with 58 trials", "58 trials replayed, the same bytes"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), says) {
			t.Errorf("the commands don't print %q:\n%s", says, text)
		}
	}
	header := shell(t, dir, "head -n 1 verdicts.record | sed 's/.*\"payload\":\"\\([^\"]*\\)\".*/\\1/' | base64 -d")
	for _, part := range []string{`"prompt reader"`, `"module evaluator"`, `"pipeline"`} {
		if !strings.Contains(header, `{"name":`+part+`,"digest":"sha256:`) {
			t.Errorf("the record does not bind %s:\n%s", part, header)
		}
	}
}
