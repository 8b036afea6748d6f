package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/tools/txtar"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// readmeWords is the most that README.md may have, code and output included. Only the graph, which readers see as a
// picture, is not counted.
const readmeWords = 700

// TestAccept_WR1_ReadmeIsShort counts the words of README.md, follows its links and those of docs and lab, and runs its commands.
func TestAccept_WR1_ReadmeIsShort(t *testing.T) {
	t.Parallel()
	readme := page(t, "README.md")
	words := 0
	for field := range strings.FieldsSeq(regexp.MustCompile("(?s)```mermaid.*?```").ReplaceAllString(readme, "")) {
		if strings.ContainsFunc(field, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			words++
		}
	}
	if words > readmeWords {
		t.Errorf("README.md has %d words, want at most %d", words, readmeWords)
	}
	t.Run("links", func(t *testing.T) {
		t.Parallel()
		others := []string{"README.md", "CONTRIBUTING.md", "RATIONALE.md", "abi/SPEC.md", "examples/dockets/README.md"}
		for _, name := range slices.Concat(pages(t, "docs/*.md"), pages(t, "lab/*.md"), others) {
			checkLinks(t, name)
		}
	})
	t.Run("own tests", func(t *testing.T) {
		t.Parallel()
		dir := failingModule(t)
		for _, line := range slices.Concat(shownCommands(t, readme, "shadowcourt alibi"), shownCommands(t, readme, "go test -json")) {
			check.Contains(t, shell(t, dir, line), "TestTotal", line, "says nothing of the failing test")
		}
	})
	t.Run("library", func(t *testing.T) {
		t.Parallel()
		_, code, _ := strings.Cut(readme, "```go\n")
		code, _, _ = strings.Cut(code, "\n```")
		code = strings.Replace(code, " // amended quota", "", 1)
		sameLines(t, "the library", code, page(t, "host/example_test.go"))
	})
}

// shownCommands are the indented lines of a page that start so.
func shownCommands(t *testing.T, text, start string) []string {
	t.Helper()
	lines := regexp.MustCompile(`(?m)^    (`+regexp.QuoteMeta(start)+`.*)$`).FindAllString(text, -1)
	if len(lines) == 0 {
		t.Fatalf("README.md shows no command that starts with %q", start)
	}
	return lines
}

// failingModule is a Go module in a git repository, on a branch that makes a test of main fail.
func failingModule(t *testing.T) string {
	t.Helper()
	p := &project{green: map[string]string{
		"go.mod": "module example.com/cart\n\ngo 1.26\n", "cart.go": "package cart\n\nfunc Total() int { return 2 }\n",
		"cart_test.go": "package cart\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {\n\tif Total() != 2 {\n\t\tt.Error(\"not 2\")\n\t}\n}\n",
	}}
	p.write(t)
	git(t, p.dir, "git checkout -q -b topic && sed -i 's/return 2/return 1/' cart.go && git commit -qam second")
	return p.dir
}

// page reads a file of the repository.
func page(t *testing.T, name string) string {
	t.Helper()
	return readFile(t, filepath.Join(repositoryRoot(t), filepath.FromSlash(name)))
}

// pages are the names of the files, from the repository's root.
func pages(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(repositoryRoot(t), filepath.FromSlash(pattern)))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no page, %v", pattern, err)
	}
	for i := range files {
		files[i] = must.Get(filepath.Rel(repositoryRoot(t), files[i]))(t)
		files[i] = filepath.ToSlash(files[i])
	}
	return files
}

// block is the first text block behind a text.
func block(t *testing.T, text, behind string) string {
	t.Helper()
	_, text, _ = strings.Cut(text, behind)
	_, text, _ = strings.Cut(text, "```text\n")
	text, _, found := strings.Cut(text, "\n```")
	if !found {
		t.Fatalf("no text block follows %q", behind)
	}
	return text
}

// columns are the words of a line, and the end of one that is cut: how wide the columns of a table are depends on all its lines.
func columns(line string) string {
	if row, about, cut := strings.Cut(line, "_test.go:"); cut && strings.HasSuffix(about, "…") {
		line = row // how much is shown of the last column depends on the others
		if words := strings.Fields(row); len(words) > 0 {
			line = strings.Join(words[:len(words)-1], " ")
		}
	}
	words := strings.Fields(strings.TrimLeft(line, "─"))
	for i, word := range words {
		if end, cut := strings.CutPrefix(word, "…"); cut {
			words[i] = "…" + end[max(len(end)-20, 0):]
		}
	}
	return strings.Join(words, " ")
}

// sameLines checks that each line that is shown is in the text, in this order. A line that begins with [... stands for others.
func sameLines(t *testing.T, what, shown, text string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = columns(lines[i])
	}
	for line := range strings.SplitSeq(shown, "\n") {
		if line = columns(line); line == "" || strings.HasPrefix(line, "[...") {
			continue
		}
		at := slices.Index(lines, line)
		if at < 0 {
			t.Errorf("%s: this line is not printed, or not in this order:\n%s\nin\n%s", what, line, text)
			return
		}
		lines = lines[at+1:]
	}
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	link      = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchorOut = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// checkLinks checks that the relative links of a page lead to files, and to headings of pages.
func checkLinks(t *testing.T, name string) {
	t.Helper()
	text := codeBlock.ReplaceAllString(page(t, name), "")
	for _, match := range link.FindAllStringSubmatch(text, -1) {
		target, anchor, anchored := strings.Cut(match[1], "#")
		if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
			continue
		}
		file := name
		if target != "" {
			file = filepath.ToSlash(filepath.Join(filepath.Dir(name), target))
		}
		if _, err := os.Stat(filepath.Join(repositoryRoot(t), filepath.FromSlash(file))); err != nil {
			t.Errorf("%s: the link %s leads nowhere: %v", name, match[1], err)
			continue
		}
		if anchored && !slices.Contains(anchors(page(t, file)), anchor) {
			t.Errorf("%s: the link %s leads to no heading of %s", name, match[1], file)
		}
	}
}

// anchors are those of the headings of a page, as GitHub makes them, and those that it sets itself.
func anchors(text string) []string {
	var all []string
	text = codeBlock.ReplaceAllString(text, "")
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.ReplaceAll(anchorOut.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-"))
	}
	for _, match := range regexp.MustCompile(`<a (?:id|name)="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

// TestAccept_FZ9_InstallationWorksToday: the first command of the README needs no release, and no page names the host of a registry.
func TestAccept_FZ9_InstallationWorksToday(t *testing.T) {
	t.Parallel()
	_, install, _ := strings.Cut(page(t, "README.md"), "\n## Install\n")
	commands := regexp.MustCompile(`(?m)^    (\S.*)$|`+"`([^`]+)`").FindAllStringSubmatch(install, -1)
	if len(commands) == 0 || commands[0][1] != "make install" {
		t.Errorf("the first command is %v", commands)
	}
	check.Contains(t, page(t, "Makefile"), "\ninstall: ", "make has no target install")
	for _, name := range append(pages(t, "docs/*.md"), "README.md", "CONTRIBUTING.md", "RATIONALE.md") {
		for _, host := range []string{"proxy.golang.org", "sum.golang.org", "registry.npmjs.org", "pypi.org"} {
			if strings.Contains(page(t, name), host) {
				t.Errorf("%s names %s; `$(go env GOPROXY)` and the like do", name, host)
			}
		}
	}
}

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
			extract(t, filepath.Join("testdata", "script", "long", "source.txtar"), dir)
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
	parsed := must.Get(txtar.ParseFile(archive))(t)
	for _, file := range parsed.Files {
		writeFiles(t, dir, map[string]string{file.Name: string(file.Data)})
	}
}

// The commands of examples/evaluator run as its page shows them: the evaluator in Go is built, tries its docket, and the record of that
// binds module and prompt, verifies and replays.
func TestAccept_DI6_ThePageOfTheEvaluatorWorks(t *testing.T) {
	t.Parallel()
	tier.Long(t, "examples/evaluator", "abi/guest", "sdk")
	dir, root := t.TempDir(), repositoryRoot(t)
	for _, name := range names(t, root) {
		if name == ".git" {
			continue
		}
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Skip(err) // a system without links
		}
	}
	printed := pasted(t, dir, "", page(t, "examples/evaluator/README.md"), ".*")
	header := shell(t, dir, "head -n 1 verdicts.record | sed 's/.*\"payload\":\"\\([^\"]*\\)\".*/\\1/' | base64 -d")
	contains(t, strings.Join(strings.Fields(printed), " ")+header,
		"58 tried cases Light was right in 36", "the court in 49", "holds and is complete: 61 entries with 58 trials", "58 trials replayed, the same bytes",
		`{"name":"prompt reader","digest":"sha256:`, `{"name":"module evaluator","digest":"sha256:`, `{"name":"pipeline","digest":"sha256:`)
}

// pasted runs the indented lines of a page that a pattern matches, each after a line of the test's own, and gives what they print.
func pasted(t *testing.T, dir, before, text, pattern string) string {
	t.Helper()
	var printed strings.Builder
	for _, line := range regexp.MustCompile(`(?m)^    (`+pattern+`)$`).FindAllStringSubmatch(text, -1) {
		printed.WriteString(shell(t, dir, before+"("+line[1]+") && echo done"))
	}
	return printed.String()
}

// contains checks that texts are in another one.
func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		check.Contains(t, text, want, "without")
	}
}

// TestAccept_CLI4_ExamplesWorkAsPasted runs every example of every command in
// a shell, from a copy of the repository's root.
func TestAccept_CLI4_ExamplesWorkAsPasted(t *testing.T) {
	t.Parallel()
	tier.Long(t, "cmd/shadowcourt/internal")
	dir := scratchCopy(t)
	// What the examples name: a record, also as one of a service's docket; answers with a quarantine; a layout with a signed module, a court and a
	// module to publish; a database.
	shell(t, dir, `set -e; shadowcourt key new court.key && shadowcourt try examples/dockets/tour.jsonl --light docket --record trials.record --key court.key
		mkdir docket-17 && cp trials.record docket-17/1.record && cp trials.record docket-17/2.record
		cp `+filepath.Join(repositoryRoot(t), "internal", "render", "testdata", "answers.json")+` . && cp examples/dockets/inputs/gotestsum.xml report.xml
		shadowcourt quarantine propose answers.json --write --owner @acme/shop
		shadowcourt plugin push clerk oci-layout:layout:clerk --key court.key && cp pipelines/defect-court.yaml court.yaml && shadowcourt plugin new lines --lang go --role persona
		shadowcourt serve migrate --data court`)
	for _, cmd := range allCommands(cli.Root(commands(cli.Streams{}))) {
		t.Run(strings.ReplaceAll(cmd.CommandPath(), " ", "_"), func(t *testing.T) {
			t.Parallel()
			help := shell(t, dir, cmd.CommandPath()+" --help")
			if !strings.Contains(help, "Examples:\n"+cmd.Example) || cmd.Example == "" {
				t.Fatalf("the help shows no example:\n%s", help)
			}
			for line := range strings.SplitSeq(strings.ReplaceAll(cmd.Example, "\\\n", ""), "\n") {
				if !strings.HasPrefix(line, "  "+cmd.CommandPath()) && cmd.HasParent() {
					t.Errorf("an example of another command: %s", line)
				}
				// The first two run tests of a repository: TestAccept_AL10 pastes the first in that of the demo. The others need a server or are one: TestAccept_IG1, IG6 and SV1.
				if !slices.Contains([]string{"alibi", "culprit", "publish", "github", "gitlab", "issues", "reportportal", "serve", "login", "revoke"}, cmd.Name()) {
					shell(t, dir, line)
				}
			}
		})
	}
}

// allCommands are the command and all below it that its help shows.
func allCommands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, allCommands(sub)...)
		}
	}
	return all
}

// exampleCases is how many cases of a docket the examples run on: an example shows that it works, and others measure. One of sentiment-fit repeats another.
const exampleCases = measure.LeastCases + 1

// scratchCopy has what the examples name; nothing in the repository is written to. Long dockets are cut.
func scratchCopy(t *testing.T) string {
	t.Helper()
	dir, root := t.TempDir(), repositoryRoot(t)
	for _, pattern := range []string{"examples/dockets/*.json*", "examples/dockets/*.yaml", "examples/dockets/inputs/*", "examples/audit/*", "pipelines/*.yaml", "plugins/*/manifest.yaml", "bin/modules/*.wasm"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			rel := must.Get(filepath.Rel(root, file))(t)
			text := readFile(t, file)
			if filepath.Ext(file) == ".jsonl" {
				text = strings.Join(strings.SplitAfterN(text, "\n", exampleCases+1)[:min(exampleCases, strings.Count(text, "\n"))], "")
			}
			writeFiles(t, dir, map[string]string{rel: text})
		}
	}
	return dir
}

// TestAccept_DI5_PageOfRegistries runs the commands of docs/registries.md in their order against a registry, those from "On another machine" on
// in another folder with its own cache of pulled modules and configuration. Compiled modules are the user's, who has most of them.
func TestAccept_DI5_PageOfRegistries(t *testing.T) {
	t.Parallel()
	tier.Long(t, "docs/registries.md", "internal/oci", "internal/trust")
	registry := testkit.Start(t, true)
	text := strings.ReplaceAll(page(t, "docs/registries.md"), "registry.example", registry.Host)
	author, other, root := t.TempDir(), t.TempDir(), repositoryRoot(t)
	before, after, _ := strings.Cut(text, "On another machine")
	run := func(dir, part string) string {
		if user, err := os.UserCacheDir(); err == nil {
			_ = os.MkdirAll(filepath.Join(dir, "cache"), 0o700)
			_ = os.Symlink(filepath.Join(user, "shadowcourt", "modules"), filepath.Join(dir, "cache", "modules"))
		}
		return pasted(t, dir, "export XDG_CONFIG_HOME="+dir+" SHADOWCOURT_CACHE="+dir+"/cache/modules; ", part, "(?:shadowcourt|sed) .*")
	}
	printed := run(author, before)
	contains(t, printed, "built twice in go", "checks passed", "module: oci://"+registry.Host+"/acme/my-judge:0.1.0@sha256:")
	policy := regexp.MustCompile("(?s)```yaml\n# trust.yaml\n(.*?)```").FindStringSubmatch(text)
	for line := range strings.Lines(policy[1]) {
		contains(t, printed, "  "+line)
	}
	writeFiles(t, other, map[string]string{
		"trust.yaml": "# trust.yaml\n" + policy[1], "publisher.key.pub": readFile(t, filepath.Join(author, "publisher.key.pub")),
		"rubric.yaml": readFile(t, filepath.Join(author, "my-judge", "rubric.yaml")), "opinion.json": readFile(t, filepath.Join(author, "my-judge", "opinion.json")),
		"court.yaml": readFile(t, filepath.Join(root, "pipelines", "defect-court.yaml")), "case.jsonl": readFile(t, example(t, "tour.jsonl")),
	})
	minute, rest, _ := strings.Cut(after, "## Publish a module")
	contains(t, run(other, minute), "accepted: signed by publisher, allowed by trust.yaml:3, as criterion", "evidence")
	contains(t, run(other, rest), "kit           passed, says publisher", "oci-layout:usb:my-judge-0.1.0@sha256:", "/mirror/my-judge:0.1.0@sha256:")
}

// TestAccept_DI4_WhatRegistriesSayIsSafeToPrint has a registry say control characters, other directions of text and a very long version.
func TestAccept_DI4_WhatRegistriesSayIsSafeToPrint(t *testing.T) {
	t.Parallel()
	registry, dir := testkit.Start(t, true), t.TempDir()
	client := must.Get(oci.New(oci.Config{Clock: time.Now}))(t)
	ref := must.Get(moduleref.Parse("oci://" + registry.Host + "/evil/judge:1"))(t)
	long := strings.Repeat("9", 5000)
	_, err := client.Push(t.Context(), ref, []byte("no module"), map[string]string{
		"org.opencontainers.image.title": "a\x1b]0;owned\a\u202ejudge", "org.opencontainers.image.version": long, "org.opencontainers.image.source": "x\ny\rz",
		"dev.shadowcourt.module.abi": "1.0", "dev.shadowcourt.module.calls": "node \x1b[2J", "dev.shadowcourt.module.families": "verdict",
	}, oci.Attachment{Type: trust.TypeSignature, Data: []byte("\x1b[31m{")})
	must.Do(t, err)
	for _, line := range []string{
		"inspect " + ref.String(), "inspect --format json " + ref.String(), "verify " + ref.String() + " || test $? = 3", "pull " + ref.String() + " || test $? = 2", "pull --unverified " + ref.String() + " || test $? = 2",
	} {
		said := shell(t, dir, "export XDG_CONFIG_HOME="+dir+" SHADOWCOURT_CACHE="+dir+"/cache/modules; shadowcourt plugin "+line+" 2>&1")
		if strings.ContainsAny(said, "\x1b\a\r\u202e") {
			t.Errorf("%s: %q", line, said)
		}
		if !strings.Contains(line, "json") && strings.Contains(said, long) {
			t.Errorf("%s prints all of a long text", line)
		}
	}
}
