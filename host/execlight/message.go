package execlight

import (
	"errors"
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// request is what the program gets. The case has the shape of a docket's line, without light and truth.
type request struct {
	Case     caseJSON      `json:"case"`
	Feedback *feedbackJSON `json:"feedback"`
	Previous *answerJSON   `json:"previous"`
}

type caseJSON struct {
	ID        string         `json:"id"`
	Group     string         `json:"group,omitempty"`
	Subject   string         `json:"subject"`
	Labels    []string       `json:"labels"`
	Evidence  []evidenceJSON `json:"evidence"`
	Documents []documentJSON `json:"documents"`
}

type evidenceJSON struct {
	SourceRef           string      `json:"source_ref"`
	Content             string      `json:"content"`
	RelevanceConfidence *float64    `json:"relevance_confidence"`
	Supports            string      `json:"supports,omitempty"`
	Element             abi.Element `json:"element,omitempty"`
}

type documentJSON struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type feedbackJSON struct {
	Challenged            []challengedJSON `json:"challenged"`
	AlternativeHypothesis *alternativeJSON `json:"alternative_hypothesis"`
	Questions             []questionJSON   `json:"questions"`
}

type challengedJSON struct {
	EvidenceIndex int    `json:"evidence_index"`
	Why           string `json:"why"`
}

type alternativeJSON struct {
	Label     string `json:"label"`
	Reasoning string `json:"reasoning"`
	Support   []int  `json:"support"`
}

type questionJSON struct {
	ID       string `json:"id"`
	Question string `json:"question"`
}

// answerJSON is the program's answer before.
type answerJSON struct {
	Classification string   `json:"classification"`
	Confidence     *float64 `json:"confidence"`
	Reasoning      string   `json:"reasoning"`
}

// encode states a request as a line.
func encode(req host.LightRequest) ([]byte, error) {
	c := req.Case
	items := c.Evidence
	if req.Feedback != nil {
		items = req.Evidence
	}
	out := request{Case: caseJSON{
		ID: c.ID, Group: c.Group, Subject: c.Subject, Labels: c.Labels,
		Evidence: make([]evidenceJSON, len(items)), Documents: make([]documentJSON, len(c.Documents)),
	}}
	for i, e := range items {
		out.Case.Evidence[i] = evidenceJSON{e.SourceRef, e.Content, &e.RelevanceConfidence, e.Supports, e.Element}
	}
	for i, d := range c.Documents {
		out.Case.Documents[i] = documentJSON(d)
	}
	if p := req.Previous; p != nil {
		out.Previous = &answerJSON{Classification: p.Classification, Confidence: &p.Confidence, Reasoning: p.Reasoning}
	}
	if f := req.Feedback; f != nil {
		out.Feedback = encodeFeedback(f)
	}
	return sanitize.EncodeJSON(out, "")
}

func encodeFeedback(f *abi.RemandFeedback) *feedbackJSON {
	out := &feedbackJSON{Challenged: make([]challengedJSON, len(f.Challenged)), Questions: make([]questionJSON, len(f.Questions))}
	for i, c := range f.Challenged {
		out.Challenged[i] = challengedJSON(c)
	}
	for i, q := range f.Questions {
		out.Questions[i] = questionJSON(q)
	}
	if a := f.AlternativeHypothesis; a != nil {
		out.AlternativeHypothesis = &alternativeJSON{Label: a.Label, Reasoning: a.Reasoning, Support: append([]int{}, a.Support...)}
	}
	return out
}

// decode reads an answer to a request. What its values may be, the court checks.
func decode(line []byte, req *host.LightRequest) (host.LightResponse, error) {
	answer, err := docket.ParseLightLine(line)
	if err != nil {
		return host.LightResponse{}, problems(err)
	}
	var c abi.Collector
	if answer.ID != "" && answer.ID != req.Case.ID {
		c.Add(abi.CodeIdentity, fmt.Sprintf("is %q, and the case is %q", answer.ID, req.Case.ID), abi.Field("id"))
	}
	if answer.Remand != nil && req.Feedback == nil {
		c.Add(abi.CodeRemandFeedback, "stands where there was no feedback", abi.Field("remand"))
	}
	if err := c.Err(); err != nil {
		return host.LightResponse{}, problems(err)
	}
	return host.LightResponse{Answer: answer.Answer, Evidence: answer.Evidence, Remand: answer.Remand}, nil
}

// problems states all that is wrong in a line, with the codes.
func problems(err error) error {
	var invalid *abi.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	var list []string
	for _, p := range invalid.Problems {
		list = append(list, p.String()+" ("+string(p.Code)+")")
	}
	if invalid.Omitted > 0 {
		list = append(list, fmt.Sprintf("and %d more", invalid.Omitted))
	}
	return errors.New(strings.Join(list, "; "))
}
