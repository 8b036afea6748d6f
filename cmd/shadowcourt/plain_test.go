package main

import (
	"regexp"
	"strings"
	"testing"
)

// plainPages are written in plain technical English. A page joins the list when it is rewritten.
var plainPages = []string{
	"README.md", "docs/ablation.md", "docs/audit.md", "docs/calibration.md", "docs/casebook.md", "docs/dockets.md", "docs/fitting.md",
	"docs/light.md", "docs/modules.md", "docs/records.md", "docs/sandbox.md", "docs/source.md",
}

// riddles are words of the earlier style, with what to write instead. A match counts outside of code.
var riddles = []struct{ pattern, instead string }{
	{`h[eo]ld(s|ing)? (\w+ ){0,3}(against|to the contract)`, "validate, check or verify"},
	{`(laid by hand|hand-laid)`, "hand-tuned"},
	{`heeds?`, "follow, use"},
	{`reckon(s|ed|ing)?`, "measure, estimate"},
	{`sayings?`, "assertion, statement"},
	{`(at|from|through) the desk`, "capability broker"},
	{`what stands (when|where)`, "default"},
	{`of which none`, "none of which, or another sentence"},
	{`words? of (the )?witnesses`, "source reliability"},
	{`word is worth`, "source reliability"},
	{`t(ake|akes|aken|ook) \w+ for (a|an|the)`, "treat as, label as"},
	{`go(es|ing)? on with`, "continue, resume, switch to"},
	{`gone on with`, "continued, resumed"},
	{`lies? idle`, "stale, unused"},
	{`made inert`, "sanitized, escaped"},
	{`puts? (\w+ )?back`, "reset, restore"},
	{`g[ai]ves? back`, "return"},
	{`tr(y|ies|ied) (\w+ )?once more`, "rerun"},
	{`judges of other people`, "third-party judges"},
	{`to the letter`, "exactly"},
	{`no (longer|more) than nothing`, "positive, empty"},
	{`(what|who) (\w+ )?knows? better`, "name who does what"},
	{`is no result`, "invalid result"},
	{`among equals`, "tie-break"},
}

var (
	inlineCode = regexp.MustCompile("`[^`]*`")
	indented   = regexp.MustCompile(`(?m)^    .*$`)
)

// TestAccept_WR2_PlainWords looks for words of the glossary's right column in the pages that are rewritten.
func TestAccept_WR2_PlainWords(t *testing.T) {
	t.Parallel()
	for _, name := range plainPages {
		for _, found := range findRiddles(page(t, name)) {
			t.Errorf("%s: %s", name, found)
		}
	}
}

// TestRiddlesAreFound checks that each pattern finds what it is for, over the end of a line, too.
func TestRiddlesAreFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"`plugin check` holds a module to the contract", "each is held against\nits key", "a profile laid by hand", "Light is the more heeds",
		"as it reckons", "sayings of a source", "asked at the desk", "what stands when nothing is said", "cases of which none is right",
		"the word of witnesses", "what a source's word is worth", "it takes it for a flake", "a docket goes on with it", "a record gone on with",
		"it lies idle", "text is made inert", "puts it back", "gives back the module", "tries it once more", "Judges of other people",
		"keeps the contract to the letter", "more than nothing: no more than nothing", "who knows better", "this is no result", "first among equals",
	} {
		if len(findRiddles(text)) == 0 {
			t.Errorf("nothing is found in %q", text)
		}
	}
	if found := findRiddles("```text\nreckon\n```\n\n    reckon\n\nThe flag `--heed` and a link [page](reckon.md) are code. Continue the run."); len(found) > 0 {
		t.Errorf("found %q in plain words", found)
	}
}

// findRiddles gives each riddle of a page with its text and what to write instead.
func findRiddles(text string) []string {
	text = indented.ReplaceAllString(codeBlock.ReplaceAllString(text, ""), "")
	text = link.ReplaceAllString(inlineCode.ReplaceAllString(text, "CODE"), "]")
	text = strings.Join(strings.Fields(text), " ")
	var found []string
	for _, r := range riddles {
		for _, match := range regexp.MustCompile(`(?i)\b`+r.pattern+`\b`).FindAllString(text, -1) {
			found = append(found, `"`+match+`": write `+r.instead)
		}
	}
	return found
}
