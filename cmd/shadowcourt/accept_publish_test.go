package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/publish/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// TestAccept_IG6_SnippetsOfThePage runs what docs/ci.md says of writing back: as it stands there, which writes nothing, then with --write.
func TestAccept_IG6_SnippetsOfThePage(t *testing.T) {
	t.Parallel()
	tier.Long(t, "docs/ci.md", "internal/publish")
	const token = "t0ken-of-the-page"
	dir := t.TempDir()
	for name, from := range map[string]string{"export.json": "examples/dockets/inputs/reportportal.json", "answers.json": "internal/render/testdata/answers.json"} {
		data, err := os.ReadFile(filepath.Join(repositoryRoot(t), from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	items := map[int64]*testkit.Defect{}
	for id := range int64(40) {
		items[id] = &testkit.Defect{Type: "ti001"}
	}
	portal := testkit.NewReportPortal(t, token, items)
	gitHub := testkit.NewIssues(t, token)
	env := map[string]string{"RP_API_KEY": token, "GITHUB_TOKEN": token, "GITHUB_API_URL": gitHub.URL}

	var lines []string
	for _, block := range snippets(t)["Write back"] {
		script := strings.NewReplacer("https://rp.example", portal.URL, "--min-confidence 0.9", "--min-confidence 0.5").Replace(block[1])
		lines = append(lines, strings.Split(strings.TrimSpace(script), "\n")...)
	}
	if len(lines) != 3 {
		t.Fatalf("the page has the lines %q", lines)
	}
	for _, line := range lines {
		publishes := strings.Contains(line, " publish ")
		dry := runShell(t, dir, line, env)
		if dry.code != 0 || publishes && !strings.Contains(dry.out, "nothing was written") || strings.Contains(dry.out+dry.errors, token) {
			t.Errorf("%s: %+v", line, dry)
		}
		if n := len(portal.Writes()) + len(gitHub.Writes()); n > 0 {
			t.Errorf("%s: %d writes", line, n)
		}
		if !publishes {
			continue
		}
		runShell(t, dir, line+" --write", env)
		first := len(portal.Writes()) + len(gitHub.Writes())
		again := runShell(t, dir, line+" --write", env)
		if second := len(portal.Writes()) + len(gitHub.Writes()); first == 0 || second > 0 || again.code != 0 {
			t.Errorf("%s: %d writes, then %d: %+v", line, first, second, again)
		}
	}
}
