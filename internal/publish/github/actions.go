// Package github shows answers on GitHub: as annotations, summary and outputs of a job of GitHub Actions, and as a comment on a pull request.
package github

import (
	"fmt"
	"io"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// Limits of GitHub Actions.
const (
	MaxSummary     = 1 << 20 // bytes of the summary of one step
	maxAnnotations = 10      // of each level in one step
)

// Annotate prints annotations: errors for failures that are yours, warnings for open ones and notices for others. GitHub shows ten of each; what
// does not fit is counted in a line.
func Annotate(w io.Writer, d *answers.Document) error {
	shown := *d
	shown.Failures = nil
	counts := map[alibi.Verdict]int{}
	for i := range d.Failures {
		v := d.Failures[i].Verdict
		if counts[v]++; counts[v] <= maxAnnotations {
			shown.Failures = append(shown.Failures, d.Failures[i])
		}
	}
	err := render.WriteAnswers(&shown, func(trees render.AnswerTrees) render.AnswerWriter {
		return render.NewAnswerForm(render.FormGitHub, w, trees)
	})
	if err != nil || len(shown.Failures) == len(d.Failures) {
		return err
	}
	more := func(v alibi.Verdict) int { return max(counts[v]-maxAnnotations, 0) }
	_, err = fmt.Fprintf(w, "GitHub shows %d annotations of a level. Without one: %d yours, %d open, %d not yours.\n",
		maxAnnotations, more(alibi.IsYours), more(alibi.IsOpen), more(alibi.NotYours))
	return err
}

// Outputs writes the outputs of a step in the form of the file that GITHUB_OUTPUT names. No value has a line break.
func Outputs(w io.Writer, d *answers.Document) error {
	return publish.WriteOutputs(w, publish.Outputs(d), func(name string) string { return name })
}
