package report

import (
	"bytes"
	"html/template"
	"sync"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// Parts are the parts of a trial's page, for a page of another program that lays them out itself with [TrialStyle]. All
// texts in them are sanitized and escaped, and they hold neither scripts nor styles. A part that the trial has nothing for
// is empty.
type Parts struct {
	// Outcome is the conclusion, what Light said, and how the case ended.
	Outcome template.HTML
	// Failure says what failed, Gaps what would settle the case.
	Failure, Gaps template.HTML
	// Experiments that were run, and Models: what language models were asked.
	Experiments, Models template.HTML
	// Graph is the court's graph with the path of the trial.
	Graph template.HTML
	// Transcript is all that was said, with the weight of the evidence.
	Transcript template.HTML
	// Modules that took part.
	Modules template.HTML
}

// NewParts renders a trial. Labels are shown by their names for people, where they have any. link gives the address of the place in the documents that an item names and quotes, empty for
// one that the page does not show; a nil link links nothing.
func NewParts(t *trial.Trial, link func(source, quote string) string) (*Parts, error) {
	v := newCaseView(render.Sanitize(t), 1, caseOptions{link: link})
	parts := &Parts{}
	for name, into := range map[string]*template.HTML{
		"outcome": &parts.Outcome, "failure": &parts.Failure, "gaps": &parts.Gaps, "experiments": &parts.Experiments, "models": &parts.Models,
		"graph": &parts.Graph, "told": &parts.Transcript, "modules": &parts.Modules,
	} {
		var b bytes.Buffer
		if err := partTemplates().ExecuteTemplate(&b, name, v); err != nil {
			return nil, err
		}
		*into = template.HTML(bytes.TrimSpace(b.Bytes())) //nolint:gosec // the template's own output
	}
	return parts, nil
}

var partTemplates = sync.OnceValue(templates)

// TrialStyle is the style sheet of [Parts]. It has the colours as variables, those of a dark page too.
func TrialStyle() string { return trialStyle }
