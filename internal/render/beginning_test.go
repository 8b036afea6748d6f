package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/render/testkit/sample"
)

// TestAccept_AL7_EachEndingOfASearch has a sentence that does not say more than was shown, and nothing hostile reaches a terminal.
func TestAccept_AL7_EachEndingOfASearch(t *testing.T) {
	t.Parallel()
	culprit := func(verified bool, beside ...string) *alibi.Culprit {
		c := *sample.Answers()[1].Culprit
		c.Verified, c.Beside, c.Title = verified, beside, "Trim \x1b[31m|input"
		c.Pair = &alibi.Pair{Parent: "1111111111112222", OfParent: alibi.Tally{Passed: 3}, Culprit: alibi.Tally{Failed: 2, Passed: 1}}
		c.Skipped = []alibi.Skipped{{Commit: "aaaaaaaaaaaabbbb", Why: "it does not\x1b build"}, {Commit: "ccccccccccccdddd", Why: "it does not\x1b build"}}
		return &c
	}
	for _, c := range []struct {
		b    alibi.Beginning
		want []string
		sure bool
	}{
		{
			alibi.Beginning{Ending: alibi.Found, Culprit: culprit(true)},
			[]string{"began to fail with 9ab12cd0e1f2", "at 98%; verified: 2 of 3 failed there, none of 3 failed at the parent 111111111111.", "aaaaaaaaaaaa, cccccccccccc (it does not"},
			true,
		},
		{alibi.Beginning{Ending: alibi.Found, Culprit: culprit(true, "3333333333333333")}, []string{"or a commit before it that can't be run, at 98%", "It may as well be 333333333333."}, false},
		{alibi.Beginning{Ending: alibi.Found, Culprit: culprit(false)}, []string{"probably began to fail with", "not confirmed: 2 of 3 failed there"}, false},
		{alibi.Beginning{Ending: alibi.Undecided, Culprit: culprit(true), Why: "the budget is used up"}, []string{"the budget is used up"}, false},
		{alibi.Beginning{Ending: alibi.Undecided, Why: "the budget is used up"}, []string{"No commit is found that TestTotal", "the budget is used up"}, false},
		{alibi.Beginning{Ending: alibi.Passes, After: alibi.Tally{Passed: 100}}, []string{"TestTotal does not fail at your working tree: none of 100 failed."}, false},
		{alibi.Beginning{Ending: alibi.Before, Before: alibi.Tally{Failed: 5}, After: alibi.Tally{Failed: 4, Passed: 1}}, []string{"fails at v1", "5 of 5 failed there, 4 of 5 failed here"}, false},
		{alibi.Beginning{Ending: alibi.NotRun, Why: "it does not build: x\x1b"}, []string{"can't be run at your working tree: it does not build: x"}, false},
	} {
		c.b.Test, c.b.Since, c.b.Message = "TestTotal", "0123456789abcdef", "\x1b]0;pwned\a"
		if c.b.Confirmed() != c.sure {
			t.Errorf("%+v: confirmed is %v", c.b, !c.sure)
		}
		for _, format := range []string{"table", "md", "jsonl"} {
			var out bytes.Buffer
			if err := render.WriteBeginning(&out, format, &c.b, "v1", "", render.TerminalOptions{}); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(out.String(), "\x1b\a") {
				t.Errorf("%s: %q", format, out.String())
			}
			if one := strings.Join(strings.Fields(out.String()), " "); format == "table" {
				for _, want := range c.want {
					if !strings.Contains(one, want) {
						t.Errorf("want %q:\n%s", want, out.String())
					}
				}
			}
			if format == "md" && out.Len() > render.MarkdownAnswerBytes {
				t.Errorf("%d bytes", out.Len())
			}
		}
	}
}
