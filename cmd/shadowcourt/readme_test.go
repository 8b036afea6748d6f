package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
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
			if out := shell(t, dir, line); !strings.Contains(out, "TestTotal") {
				t.Errorf("%s says nothing of the failing test:\n%s", line, out)
			}
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
		if files[i], err = filepath.Rel(repositoryRoot(t), files[i]); err != nil {
			t.Fatal(err)
		}
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
	if !strings.Contains(page(t, "Makefile"), "\ninstall: ") {
		t.Error("make has no target install")
	}
	for _, name := range append(pages(t, "docs/*.md"), "README.md", "CONTRIBUTING.md", "RATIONALE.md") {
		for _, host := range []string{"proxy.golang.org", "sum.golang.org", "registry.npmjs.org", "pypi.org"} {
			if strings.Contains(page(t, name), host) {
				t.Errorf("%s names %s; `$(go env GOPROXY)` and the like do", name, host)
			}
		}
	}
}
