package publish

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/publish/platform"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Markdown is a document as Markdown: the first line says whether anything is yours, the last one names the commit and the job, where that has a
// name, with a link to the run. Its texts are escaped. Of the run nothing is taken from the document, which may be that of a fork.
func Markdown(d *answers.Document, run platform.Run, job string) (string, error) {
	var b bytes.Buffer
	err := render.WriteAnswers(d, func(trees render.AnswerTrees) render.AnswerWriter { return render.NewAnswerMarkdown(&b, trees) })
	if err != nil {
		return "", err
	}
	last := "\nCommit " + sanitize.MarkdownCode(short(run.Head, d.Head))
	if run.Link != "" {
		last += ", [run](<" + inLink.Replace(run.Link) + ">)"
	}
	if job != "" {
		last += ", job " + sanitize.Markdown(job)
	}
	b.WriteString(last + "\n")
	return b.String(), nil
}

// inLink escapes what would end an address in angle brackets.
var inLink = strings.NewReplacer("<", "%3C", ">", "%3E", "\\", "%5C", " ", "%20", "|", "%7C")

func short(commits ...string) string {
	const digits = 12
	for _, c := range commits {
		if c != "" {
			return c[:min(digits, len(c))]
		}
	}
	return ""
}

// Output is a value for later steps of a pipeline: one line.
type Output struct{ Name, Value string }

// Outputs are conclusion, yours, open, not-yours and verdict, which is yours, open or none.
func Outputs(d *answers.Document) []Output {
	verdict := "none"
	switch {
	case d.Yours > 0:
		verdict = "yours"
	case d.Open+d.Unanswered > 0:
		verdict = "open"
	}
	return []Output{
		{"conclusion", sanitize.Line(d.Conclusion)},
		{"yours", strconv.Itoa(d.Yours)},
		{"open", strconv.Itoa(d.Open)},
		{"not-yours", strconv.Itoa(d.NotYours)},
		{"verdict", verdict},
	}
}

// Recount gives a document with the conclusion that its own failures have, in our words.
func Recount(d *answers.Document) (counted *answers.Document, err error) {
	err = render.WriteAnswers(d, func(trees render.AnswerTrees) render.AnswerWriter {
		return render.NewAnswerDocument(trees, func(again *answers.Document) error {
			counted = again
			return nil
		})
	})
	return counted, err
}

var nameOfNote = regexp.MustCompile(`^[A-Za-z0-9_.]+([ -][A-Za-z0-9_.]+)*$`)

// Marker is the hidden line by which a comment is found again. The name tells the comments of several jobs apart.
func Marker(name string) (string, error) {
	const most = 60
	if len(name) > most || !nameOfNote.MatchString(name) {
		return "", fmt.Errorf("--name %q: use at most %d letters, digits, dots and underscores, with single blanks or hyphens between them", sanitize.Line(name), most)
	}
	return "<!-- shadowcourt:" + name + " -->", nil
}

// WriteOutputs writes NAME=VALUE lines; what changes a name.
func WriteOutputs(w io.Writer, outputs []Output, name func(string) string) error {
	var b strings.Builder
	for _, o := range outputs {
		b.WriteString(name(o.Name) + "=" + o.Value + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
