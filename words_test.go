package shadowcourt

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// phrase is one that the project does not use, with what to write instead.
type phrase struct {
	pattern   pattern
	instead   string
	pagesOnly bool // looked for in pages alone, where people read whole paragraphs
}

// quaint are the phrases. One that is fine in other senses has the words beside it that make it unambiguous.
var quaint = []phrase{
	{anywhere(`h[eo]ld(s|ing)? (\w+ ){0,4}against`), "check, validate, verify, compare", false},
	{anywhere(`h[eo]ld(s|ing)? (\w+ ){0,3}to the contract`), "validate", false},
	{anywhere(`laid by hand`), "hand-tuned", false},
	{anywhere(`hand-laid`), "hand-tuned", false},
	{anywhere(`heeds?`), "follow, use", false},
	{anywhere(`reckon(s|ed|ing)?`), "measure, estimate, derive", false},
	{anywhere(`refus(es|al|als)`), "reject, rejection", false},
	{anywhere(`(is|are|was|were|be) refused`), "rejected; of a capability: denied", false},
	{anywhere(`sayings?`), "statement, assertion", false},
	{anywhere(`(at|from|through|to) the desk`), "capability broker", false},
	{anywhere(`what stands (when|where)`), "default", false},
	{anywhere(`nothing is said`), "name what is absent", false},
	{anywhere(`words? of (the )?witness(es)?`), "source reliability", false},
	{anywhere(`word (of \w+ )?is worth`), "source reliability", false},
	{anywhere(`(counts?|stands?|is done) for nothing`), "does not count, is lost", false},
	{anywhere(`(go|goes|going|gone) on (with|without|to|as|from)`), "continue, resume", false},
	{anywhere(`lies? idle`), "stale, unused", false},
	{anywhere(`puts? (it|them|this)? ?back`), "reset, restore", false},
	{anywhere(`(is|are|was|were|be|been|being|not|never) put back`), "reset, restored", false},
	{anywhere(`(give|gives|gave|given|giving) (it |them )?back`), "return, release", false},
	{anywhere(`anew`), "again", false},
	{anywhere(`once more`), "again; as a verb, rerun", false},
	{anywhere(`judges of other people`), "third-party judges", false},
	{anywhere(`to the letter`), "exactly", false},
	{anywhere(`(more|longer) than nothing`), "positive, not empty", false},
	{anywhere(`(what|who) (\w+ )?knows? better`), "name who does what", false},
	{anywhere(`is no result`), "invalid result", false},
	{anywhere(`among equals`), "tie-break", false},
	{anywhere(`stands? twice`), "occurs twice", false},
	{anywhere(`sorts? of thing`), "kind", false},
	{anywhere(`of which (none|one|two|some|the|there)`), "start a new sentence", true},
	{anywhere(`(as|than|with|to|from|are|is|gives|and|or|of|has) that of`), "repeat the noun, or use 's", true},
	{anywhere(`t(ake|akes|aken|ook) \w+ for (a|an|the)`), "treat as, label as", true},
	{anywhere(`made inert`), "sanitized, escaped", true},
	{anywhere(`who (gets|wants|reads)`), "anyone who, or you", true},
}

// pattern finds a phrase. Texts without the literal have no match: looking for it first makes the test four times as fast.
type pattern struct {
	*regexp.Regexp
	literal []byte // in lower case
}

// anywhere compiles a pattern of whole words. A space is any white space, also the start of the next line.
func anywhere(words string) pattern {
	expression := `(?i)\b` + strings.ReplaceAll(words, " ", `\s+`) + `\b`
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return pattern{regexp.MustCompile(expression), requiredLiteral(parsed)}
}

// requiredLiteral returns the longest literal that is in every match, or nil if none is sure to be.
func requiredLiteral(re *syntax.Regexp) []byte {
	switch re.Op {
	case syntax.OpLiteral:
		return bytes.ToLower([]byte(string(re.Rune)))
	case syntax.OpCapture, syntax.OpPlus:
		return requiredLiteral(re.Sub[0])
	case syntax.OpConcat:
		var longest []byte
		for _, part := range re.Sub {
			if literal := requiredLiteral(part); len(literal) > len(longest) {
				longest = literal
			}
		}
		return longest
	default:
		return nil
	}
}

// vocabulary are files with lists of words that modules look for in texts.
var vocabulary = regexp.MustCompile(`^plugins/(rhetor/words|internal/(reading|steering)/)`)

// generatedPage is what other texts make: its faults are found where they come from.
var generatedPage = map[string]bool{"docs/performance.md": true}

// TestAccept_WR2_PlainWords looks for phrases outside of the glossary in pages, in comments and strings of programs (doc
// comments, help texts, messages), and in comments of pipelines.
func TestAccept_WR2_PlainWords(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch name := filepath.ToSlash(path); {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || name == "out" || name == "bin" || name == "bench"):
			return filepath.SkipDir
		case entry.IsDir() || generatedPage[name]:
			return nil
		default:
			prose, page := readable(t, name)
			if prose == nil {
				return nil
			}
			files++
			for _, fault := range findQuaint(name, prose, page) {
				t.Error(fault)
			}
			return nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 300 {
		t.Errorf("only %d files were read", files)
	}
}

// TestQuaintWordsAreFound checks that patterns find what they are for, also over the end of a line, and name the place.
func TestQuaintWordsAreFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"`plugin check` holds a module to the contract", "each is held against\nits key", "a profile laid by hand", "Light is the more heeds",
		"as it reckons", "sayings of a source", "asked at the desk", "what stands when it is absent", "cases of which none is right",
		"the word of witnesses", "what a source's word is worth", "it takes it for a flake", "a docket goes on with it", "a record gone on with",
		"it lies idle", "text is made inert", "puts it back", "gives back the module", "tries it once more", "Judges of other people",
		"keeps the contract to the letter", "more than nothing", "who knows better", "this is no result", "first among equals",
		"the module is refused", "it stands\ntwice", "the same as that of the judge",
	} {
		if len(findQuaint("page.md", maskPage(text), true)) == 0 {
			t.Errorf("nothing is found in %q", text)
		}
	}
	plain := "```text\nreckon\n```\n\n    reckon\n\nThe flag `--heed` and a link [page](reckon.md) are code. Continue the run."
	if found := findQuaint("page.md", maskPage(plain), true); len(found) > 0 {
		t.Errorf("found %q in plain words", found)
	}
	source := "package p\n\n// f is held\n// against it.\nfunc reckon() { refuses(\"is not\", \"put back\", `start anew`) }\n"
	found := fmt.Sprint(findQuaint("p.go", maskSource([]byte(source)), false))
	if want := "[p.go:3: \"held against\": write check, validate, verify, compare p.go:5: \"anew\": write again]"; found != want {
		t.Errorf("found %s, want %s", found, want)
	}
}

// readable gives the prose of a file with everything else blank, and nil if it has none.
func readable(t *testing.T, name string) (prose []byte, page bool) {
	t.Helper()
	generated := strings.HasSuffix(name, "_gen.go") || strings.HasSuffix(name, "_test.go")
	isYAML := strings.HasPrefix(name, "pipelines/") && filepath.Ext(name) == ".yaml"
	isPage := filepath.Ext(name) == ".md"
	if !isPage && !isYAML && (filepath.Ext(name) != ".go" || generated || vocabulary.MatchString(name)) {
		return nil, false
	}
	data, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	switch text := string(data); {
	case name == "CHANGELOG.md": // released versions stay as they are
		if released := regexp.MustCompile(`(?m)^## \[\d`).FindStringIndex(text); released != nil {
			text = text[:released[0]]
		}
		return maskPage(text), true
	case isPage:
		return maskPage(text), true
	case isYAML:
		return maskYAML(text), false
	default:
		return maskSource(data), false
	}
}

var (
	code    = regexp.MustCompile("(?ms)^```.*?^```$|^    .*?$|`[^`]*`|\\]\\([^()\\s]+\\)")
	comment = regexp.MustCompile(`(?m)#.*$`)
)

// blank hides a text without moving the lines behind it. A phrase does not go across it.
func blank(text string) string {
	masked := []byte(text)
	for i, c := range masked {
		if c != ' ' && c != '\t' && c != '\n' {
			masked[i] = '|'
		}
	}
	return string(masked)
}

func maskPage(text string) []byte { return []byte(code.ReplaceAllStringFunc(text, blank)) }

func maskYAML(text string) []byte {
	masked := []byte(blank(text))
	for _, at := range comment.FindAllStringIndex(text, -1) {
		copy(masked[at[0]:], " "+text[at[0]+1:at[1]])
	}
	return masked
}

// maskSource leaves the comments and the strings of a Go file.
func maskSource(data []byte) []byte {
	masked := []byte(blank(string(data)))
	file := token.NewFileSet().AddFile("", -1, len(data))
	var s scanner.Scanner
	s.Init(file, data, nil, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return masked
		}
		if tok == token.COMMENT {
			text = "  " + text[2:]
		}
		if tok == token.COMMENT || tok == token.STRING && strings.Contains(text, " ") { // one word is a name, a key or a path
			copy(masked[file.Offset(pos):], text)
		}
	}
}

// findQuaint names each phrase with its place and what to write instead.
func findQuaint(name string, prose []byte, page bool) []string {
	lower := bytes.ToLower(prose)
	var found []string
	for _, q := range quaint {
		if q.pagesOnly && !page || !bytes.Contains(lower, q.pattern.literal) {
			continue
		}
		for _, at := range q.pattern.FindAllIndex(prose, -1) {
			line := 1 + strings.Count(string(prose[:at[0]]), "\n")
			phrase := strings.Join(strings.Fields(string(prose[at[0]:at[1]])), " ")
			found = append(found, fmt.Sprintf("%s:%d: %q: write %s", name, line, phrase, q.instead))
		}
	}
	return found
}
