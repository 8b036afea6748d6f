package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// commitShop makes the module of the script source.txtar a git repository whose last commit breaks a test. The dates fix
// the hash that the page shows.
const commitShop = `export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 \
  GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.com GIT_AUTHOR_DATE=2026-01-02T03:04:05Z \
  GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.com GIT_COMMITTER_DATE=2026-01-02T03:04:05Z &&
  git init -q -b main && git add . && git commit -q -m first &&
  cp ../money.new money/money.go && git commit -q -a -m 'Start sums at one' &&
  (go test -json ./... > run.json || true)`

// badDocket has a confidence that is none.
const badDocket = `echo '{"id":"a","subject":"s","labels":["x","y"],"light":{"classification":"x","confidence":2,"reasoning":""},` +
	`"evidence":[],"documents":[]}' > docket.jsonl && shadowcourt try docket.jsonl || true`

// unstable is in shown lines that depend on a key.
var unstable = regexp.MustCompile(`ed25519:|sha256:|at byte \d+`)

// TestAccept_WR1_PagesShowRealOutput runs commands that pages show, and checks that they print the output that the pages
// show: all indented lines that are no commands. Lines of shell that the page leaves to the reader run between them.
func TestAccept_WR1_PagesShowRealOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		page, dir string
		lines     []string
	}{
		{"docs/dockets.md", ".", []string{"shadowcourt try examples/dockets/tour.jsonl", badDocket}},
		{"docs/records.md", ".", []string{
			"shadowcourt record key new court.key",
			"shadowcourt try examples/dockets/tour.jsonl --record trials.record,store=store --key court.key",
			"shadowcourt record verify trials.record --key court.key.pub",
			"shadowcourt record replay trials.record --key court.key.pub --store store",
		}},
		{"docs/measuring.md", ".", []string{
			"cd " + filepath.Join(repositoryRoot(t), "examples", "dockets") + " && cp -v go-failures.jsonl sentiment-*.jsonl $OLDPWD/examples/dockets/", // all of their cases
			"shadowcourt fit examples/dockets/sentiment-fit.jsonl --output tone.yaml",
			"shadowcourt calibrate examples/dockets/sentiment-test.jsonl --profile tone.yaml",
			"shadowcourt compare examples/dockets/go-failures.jsonl --with specter=bin/modules/magistrate.wasm",
			"shadowcourt audit examples/audit/invented.txt --document examples/audit/log.txt",
		}},
		{"docs/light.md", "shop", []string{
			commitShop,
			"shadowcourt try run.json --source . --since HEAD~1 --explain example.com/shop/cart.TestTotal",
			"shadowcourt try run.json --casebook book --remember",
			"shadowcourt try run.json --casebook book --explain example.com/shop/cart.TestTotal --report cases.jsonl",
			`sed 's/}$/,"truth":{"classification":"ab001"}}/' cases.jsonl > edited && mv edited cases.jsonl`,
			"shadowcourt try cases.jsonl --light rca --profile go-test --casebook book --remember",
			"shadowcourt try run.json --casebook book",
		}},
	} {
		t.Run(c.page, func(t *testing.T) {
			t.Parallel()
			if c.page == "docs/measuring.md" || c.page == "docs/light.md" {
				tier.Long(t, "docs")
			}
			dir := scratchCopy(t)
			extract(t, filepath.Join("testdata", "script", "source.txtar"), dir)
			text := page(t, c.page)
			var printed strings.Builder
			for _, line := range c.lines {
				if strings.HasPrefix(line, "shadowcourt ") && !strings.Contains(text, "    "+line+"\n") && !strings.Contains(text, "`"+line+"`") {
					t.Errorf("the page does not show %s", line)
				}
				printed.WriteString(shell(t, filepath.Join(dir, c.dir), line))
			}
			var shown []string
			for _, line := range regexp.MustCompile(`(?m)^    (.*)$`).FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
				if !regexp.MustCompile(`^\s*(shadowcourt|go) `).MatchString(line[1]) && !unstable.MatchString(line[1]) {
					shown = append(shown, line[1])
				}
			}
			sameLines(t, c.page, strings.Join(shown, "\n"), printed.String())
		})
	}
}

// extract writes the files of an archive.
func extract(t *testing.T, archive, dir string) {
	t.Helper()
	parsed, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range parsed.Files {
		name := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, file.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
