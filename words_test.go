package shadowcourt

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quaint are phrases that the project does not use, with what to write instead. A space is any white space.
var quaint = map[string]string{
	`h[eo]ld(s|ing)? (\w+ ){0,4}against`:    "check, validate, verify, compare",
	`laid by hand|hand-laid`:                "hand-tuned",
	`reckon(s|ed|ing)?`:                     "measure, estimate, derive",
	`(is|are|was|were|be) refused`:          "rejected; of a capability: denied",
	`sayings?`:                              "statement, assertion",
	`(at|from|through|to) the desk`:         "capability broker",
	`what stands (when|where)`:              "default",
	`nothing is said`:                       "name what is absent",
	`words? of (the )?witness(es)?`:         "source reliability",
	`(counts?|stands?|is done) for nothing`: "does not count, is lost",
	`(go|goes|going|gone) on (with|as)`:     "continue, resume",
	`lies? idle`:                            "stale, unused",
	`(is|are|was|were|be|been) put back`:    "reset, restored",
	`(give|gives|gave|given) (it )?back`:    "return, release",
	`anew`:                                  "again",
	`once more`:                             "again; as a verb, rerun",
	`judges of other people`:                "third-party judges",
	`(more|longer) than nothing`:            "positive, not empty",
	`is no result`:                          "invalid result",
	`among equals`:                          "tie-break",
	`sorts? of thing`:                       "kind",
}

// vocabulary are files with lists of words that modules look for in texts.
var vocabulary = regexp.MustCompile(`^plugins/(rhetor/words|internal/(reading|steering)/)|_gen\.go$|_test\.go$|^lab/performance\.md$`)

// TestAccept_WR2_PlainWords looks for phrases outside of the glossary in pages and programs.
func TestAccept_WR2_PlainWords(t *testing.T) {
	t.Parallel()
	var all []string
	for phrase := range quaint {
		all = append(all, phrase)
	}
	every := words(strings.Join(all, "|"))
	files := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(path)
		switch base := entry.Name(); {
		case entry.IsDir() && path != "." && (strings.HasPrefix(base, ".") || base == "testdata" || name == "out" || name == "bin" || name == "lab/bench"):
			return filepath.SkipDir
		case entry.IsDir() || vocabulary.MatchString(name) || filepath.Ext(name) != ".md" && filepath.Ext(name) != ".go":
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		for _, at := range every.FindAllIndex(text, -1) {
			for phrase, instead := range quaint {
				if found := text[at[0]:at[1]]; words(phrase).Match(found) {
					t.Errorf("%s:%d: %q: write %s", name, 1+strings.Count(string(text[:at[0]]), "\n"), found, instead)
				}
			}
		}
		return err
	})
	if err != nil || files < 300 {
		t.Errorf("%d files were read, error %v", files, err)
	}
}

// words compiles a pattern of whole words.
func words(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(` + strings.ReplaceAll(pattern, " ", `\s+`) + `)\b`)
}
