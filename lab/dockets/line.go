package main

import "github.com/shadowcourt/shadowcourt/host/docket"

// line is a case of a docket as it is written.
type line struct {
	ID        string         `json:"id"`
	Group     string         `json:"group"`
	Subject   string         `json:"subject"`
	Labels    []string       `json:"labels"`
	Light     lineLight      `json:"light"`
	Evidence  []lineEvidence `json:"evidence"`
	Documents []lineDocument `json:"documents"`
	Truth     lineTruth      `json:"truth"`
}

type lineLight struct {
	Classification string  `json:"classification"`
	Confidence     float64 `json:"confidence"`
	Reasoning      string  `json:"reasoning"`
}

type lineEvidence struct {
	SourceRef           string  `json:"source_ref"`
	Content             string  `json:"content"`
	RelevanceConfidence float64 `json:"relevance_confidence"`
	Supports            string  `json:"supports,omitempty"`
	Element             string  `json:"element,omitempty"`
}

type lineDocument struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type lineTruth struct {
	Classification  string `json:"classification"`
	ExpectedVerdict string `json:"expected_verdict,omitempty"`
}

func lineOf(e docket.Entry) line {
	l := line{
		ID: e.Case.ID, Group: e.Case.Group, Subject: e.Case.Subject, Labels: e.Case.Labels,
		Light:    lineLight(*e.Case.Light),
		Evidence: []lineEvidence{}, Documents: []lineDocument{},
		Truth: lineTruth{Classification: e.Truth.Classification, ExpectedVerdict: string(e.Truth.ExpectedVerdict)},
	}
	for _, item := range e.Case.Evidence {
		l.Evidence = append(l.Evidence, lineEvidence{
			SourceRef: item.SourceRef, Content: item.Content, RelevanceConfidence: item.RelevanceConfidence,
			Supports: item.Supports, Element: string(item.Element),
		})
	}
	for _, d := range e.Case.Documents {
		l.Documents = append(l.Documents, lineDocument(d))
	}
	return l
}
