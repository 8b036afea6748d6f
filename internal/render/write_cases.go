package render

import (
	"io"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// NewCases writes the cases that were tried as a docket, one a line and each at once, with what is known of their truth: to be tried again,
// corrected or fitted on. They stand as the modules saw them, so that the same words are found again, but without what the casebook said.
// It takes trials that are not redacted: a redacted one has lost its documents.
func NewCases(w io.Writer) Writer { return casesWriter{w} }

type casesWriter struct{ w io.Writer }

// caseLine is a case as a line of a docket.
type caseLine struct {
	ID        string         `json:"id"`
	Group     string         `json:"group,omitempty"`
	Subject   string         `json:"subject"`
	Labels    []string       `json:"labels"`
	Light     *lightLine     `json:"light,omitempty"`
	Evidence  []evidenceLine `json:"evidence"`
	Documents []documentLine `json:"documents"`
	Truth     *truthLine     `json:"truth,omitempty"`
}

type lightLine struct {
	Classification string  `json:"classification"`
	Confidence     float64 `json:"confidence"`
	Reasoning      string  `json:"reasoning"`
}

type evidenceLine struct {
	SourceRef           string      `json:"source_ref"`
	Content             string      `json:"content"`
	RelevanceConfidence float64     `json:"relevance_confidence"`
	Supports            string      `json:"supports,omitempty"`
	Element             abi.Element `json:"element,omitempty"`
}

type documentLine struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type truthLine struct {
	Classification  string       `json:"classification,omitempty"`
	ExpectedVerdict abi.Decision `json:"expected_verdict,omitempty"`
}

func (c casesWriter) Write(t *trial.Trial) error {
	if err := c.write(&t.Case, t.Truth); err != nil {
		return err
	}
	for i := range t.Members {
		if err := c.write(&t.Members[i], nil); err != nil {
			return err
		}
	}
	return nil
}

func (c casesWriter) write(of *abi.Case, truth *trial.Truth) error {
	line := caseLine{
		ID: of.ID, Group: of.Group, Subject: of.Subject, Labels: of.Labels,
		Evidence: make([]evidenceLine, 0, len(of.Evidence)), Documents: make([]documentLine, 0, len(of.Documents)),
	}
	if l := of.Light; l != nil {
		line.Light = &lightLine{l.Classification, l.Confidence, l.Reasoning}
	}
	for _, e := range of.Evidence {
		if abi.IsReserved(e.SourceRef) {
			continue // the host's own, which looks it up again
		}
		line.Evidence = append(line.Evidence, evidenceLine{e.SourceRef, e.Content, e.RelevanceConfidence, e.Supports, e.Element})
	}
	for _, d := range of.Documents {
		line.Documents = append(line.Documents, documentLine{d.Name, d.Text})
	}
	if truth != nil {
		line.Truth = &truthLine{truth.Classification, truth.ExpectedVerdict}
	}
	text, err := encoded(line)
	if err != nil {
		return err
	}
	_, err = c.w.Write(text)
	return err
}

func (casesWriter) Close() error { return nil }
