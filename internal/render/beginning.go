package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// WriteBeginning writes what a search for a commit showed in one of the formats jsonl, md and, for people, table. since and until are the names
// by which the ends of the search were asked for; an empty until is the working tree.
func WriteBeginning(w io.Writer, format string, b *alibi.Beginning, since, until string, terminal TerminalOptions) error {
	switch format {
	case "jsonl":
		text, err := json.Marshal(b)
		if err == nil {
			_, err = w.Write(append(sanitize.JSON(text), '\n'))
		}
		return err
	case "md":
		_, err := io.WriteString(w, newBeginning(b, since, until).markdown())
		return err
	}
	_, err := io.WriteString(w, newBeginning(b, since, until).text(terminal))
	return err
}

// beginningView is a search as people see it. Its texts are sanitized.
type beginningView struct {
	*alibi.Beginning
	answer       *answerView
	since, until string
}

func newBeginning(b *alibi.Beginning, since, until string) *beginningView {
	clean := *b
	clean.Why, clean.Test, clean.Group = sanitize.Line(b.Why), sanitize.Line(b.Test), sanitize.Line(b.Group)
	name := func(revision, id, none string) string {
		if id == "" {
			return none
		}
		return sanitize.Line(revision) + " (" + shortCommit(id) + ")"
	}
	v := &beginningView{
		Beginning: &clean, answer: newAnswerView(&Answered{Answer: alibi.Answer{Test: b.Test, Message: b.Message, Culprit: b.Culprit}}),
		since: name(since, b.Since, ""), until: name(cmp.Or(until, "HEAD"), b.Until, "your working tree"),
	}
	clean.Culprit = v.answer.Culprit
	return v
}

// sentence is the conclusion.
func (v *beginningView) sentence() string {
	c := v.Culprit
	test := v.Test
	switch v.Ending {
	case alibi.Passes:
		return test + " does not fail at " + v.until + ": " + v.After.Words() + "."
	case alibi.NotRun:
		return test + " can't be run at " + v.until + ": " + v.Why + "."
	case alibi.Before:
		return test + " fails at " + v.since + " as it does at " + v.until + ": " + v.Before.Words() + " there, " + v.After.Words() + " here. Name an earlier revision."
	case alibi.Found, alibi.Undecided:
	}
	switch {
	case v.Confirmed():
		return test + " began to fail with " + commitName(c) + ", at " + chance(c.Probability) + "; " + verified(c)
	case c != nil && c.Verified && v.Ending == alibi.Found:
		return test + " began to fail with " + commitName(c) + " or a commit before it that can't be run, at " + chance(c.Probability) + "; " + verified(c)
	case c != nil:
		return test + " probably began to fail with " + commitName(c) + ", at " + chance(c.Probability) + "; not confirmed" + v.because() + "."
	}
	return "No commit is found that " + test + " began to fail with" + v.because() + "."
}

func (v *beginningView) because() string {
	if v.Why != "" {
		return ": " + v.Why
	}
	if c := v.Culprit; c != nil && c.Pair != nil {
		return ": " + c.Pair.Words(shortCommit(c.Pair.Parent))
	}
	return ""
}

// spent says what was run.
func (v *beginningView) spent() string {
	text := fmt.Sprintf("%s in %.0f s; %s from %s to %s.", plural(v.Runs, "run", "runs"), max(v.Seconds, 1), plural(v.Commits, "commit", "commits"), v.since, v.until)
	if v.Ending != alibi.Found && v.Ending != alibi.Undecided {
		return text
	}
	return text + " " + upper(v.Before.Words()) + " before the first, " + v.After.Words() + " at the last."
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func (v *beginningView) text(terminal TerminalOptions) string {
	s := &answerStory{story: newStory(terminal)}
	s.say(0, bold, v.sentence())
	s.hunk(v.answer)
	s.ribbon(v.answer.Ribbon())
	s.part("Failure", v.answer.Message)
	s.line("")
	s.say(0, plain, v.spent())
	return s.b.String()
}

func (v *beginningView) markdown() string {
	s := &section{}
	s.add("**", v.sentence(), "**\n", sanitize.Markdown, MarkdownAnswerBytes/2)
	s.add("\n", v.answer.Beside(), "\n", sanitize.Markdown, markdownSentence)
	s.put(markdownRibbon(v.Culprit))
	s.add("\n", v.spent(), "\n", sanitize.Markdown, markdownSentence)
	if h := v.answer.Hunk(); h != nil {
		s.add("\n", hunkPlace(h)+"\n"+h.Text, "\n", sanitize.MarkdownBlock, MarkdownAnswerBytes)
	}
	s.add("\n", v.answer.Message, "\n", sanitize.MarkdownBlock, markdownMessage)
	return s.String()
}
