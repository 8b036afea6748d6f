package issues

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// part is a paragraph of an issue or a comment. Every text but that of the label is untrusted.
type part struct {
	label string // ours
	prose string
	code  []string // names, each shown as code
	block string   // several lines, shown as code
	link  string   // an address of which [address] holds
}

// Limits of an issue's text, before it is escaped.
const (
	maxTitle    = 150 // bytes of a name in a title
	maxSentence = 1000
	maxBlock    = 2000
	maxNames    = 20
	maxName     = 300
	shortHash   = 12
)

// maxLink is the length of the longest [address] in bytes. An expression that counts so far would take a megabyte, at each start of the program.
const maxLink = 1000

var address = regexp.MustCompile(`^https?://[0-9A-Za-z._~:/?#@!$&()*+,;=%-]+$`)

// title is what an issue is called: words of ours, and a name.
func (f *Finding) title() (words, name string) {
	first := f.Failures[0]
	switch n := len(f.Failures); {
	case f.Kind == Culprit && n > 1:
		return "Commit " + short(first.Culprit.Commit) + " breaks " + strconv.Itoa(n) + " tests, among them", first.ID
	case f.Kind == Culprit:
		return "Commit " + short(first.Culprit.Commit) + " breaks", first.ID
	case f.Kind == Flake:
		return "Flaky test:", first.ID
	}
	return "Test fails on the main branch:", first.ID
}

// Title is for people at a terminal.
func (f *Finding) Title() string {
	words, name := f.title()
	return words + " " + sanitize.Cut(name, maxTitle)
}

// text is what an issue says.
func (f *Finding) text(d *answers.Document) []part {
	first := f.Failures[0]
	parts := []part{{prose: first.Conclusion}}
	if f.Kind == Culprit {
		c := first.Culprit
		parts = []part{{label: "Commit", code: []string{c.Commit}}, {label: "Title", prose: c.Title}, {label: "Author", prose: c.Author}}
		if c.Pair != nil {
			parts = append(parts, part{label: "Proof", prose: c.Pair.Words(short(c.Pair.Parent))})
		}
	}
	parts = append(parts, part{label: "Tests", code: namesOf(f)}, part{label: "Runs", prose: first.Why})
	if first.File != "" {
		at := first.File
		if first.Line > 0 {
			at += ":" + strconv.Itoa(first.Line)
		}
		parts = append(parts, part{label: "Place", code: []string{at}})
	}
	parts = append(parts, part{block: first.Message}, part{label: "Owners", code: f.owners()})
	return append(parts, seenAt(d)...)
}

// again is what a comment says where it came back, or was seen at another commit.
func (f *Finding) again(d *answers.Document, reopened bool) []part {
	words := "Seen again."
	if reopened {
		words = "It came back."
	}
	return append([]part{{prose: words}, {label: "Tests", code: namesOf(f)}, {label: "Runs", prose: f.Failures[0].Why}}, seenAt(d)...)
}

func seenAt(d *answers.Document) []part {
	parts := []part{{label: "Head", code: []string{d.Head}}, {label: "Base", code: []string{d.Base.Commit}}}
	if len(d.Link) <= maxLink && address.MatchString(d.Link) {
		parts = append(parts, part{label: "CI run", link: d.Link})
	}
	return parts
}

func namesOf(f *Finding) (names []string) {
	for i, failure := range f.Failures {
		if i == maxNames {
			return append(names, fmt.Sprintf("and %d more", len(f.Failures)-i))
		}
		names = append(names, failure.ID)
	}
	return names
}

// owners are those of all failures, each once.
func (f *Finding) owners() (owners []string) {
	seen := map[string]bool{}
	for _, failure := range f.Failures {
		for _, owner := range failure.Owners {
			if !seen[owner] && len(owners) < maxNames {
				owners = append(owners, owner)
			}
			seen[owner] = true
		}
	}
	return owners
}

func short(commit string) string { return commit[:min(len(commit), shortHash)] }

// Further references that GitHub makes links of: GH-12, and hashes of commits.
var (
	numbered = regexp.MustCompile(`(?i)\bGH-(\d)`)
	hash     = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)
)

// markdown is for GitHub. No text of others becomes markup, a link, a mention or a mark of this program: those are comments of HTML, and the
// beginning of one is taken out.
func markdown(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		var said string
		switch {
		case p.prose != "":
			said = hash.ReplaceAllString(numbered.ReplaceAllString(sanitize.Markdown(sanitize.Cut(p.prose, maxSentence)), "GH`-`$1"), "`$0`")
		case len(p.code) > 0:
			said = strings.Join(codes(p.code), ", ")
		case p.block != "":
			said = sanitize.MarkdownBlock(unmarked(sanitize.Cut(p.block, maxBlock)))
		case p.link != "":
			said = "<" + p.link + ">"
		default:
			continue
		}
		if p.label != "" {
			said = "**" + p.label + ":** " + said
		}
		b.WriteString(said + "\n\n")
	}
	return b.String()
}

func codes(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = sanitize.MarkdownCode(unmarked(sanitize.Cut(name, maxName)))
	}
	return out
}

func unmarked(s string) string { return strings.ReplaceAll(s, "<!--", "<!- -") }
