package execlight

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

// request is what the program gets. The case has the shape of a docket's line,
// without light and truth.
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

// answerJSON is what the program answers, and its answer before.
type answerJSON struct {
	Classification string         `json:"classification"`
	Confidence     *float64       `json:"confidence"`
	Reasoning      string         `json:"reasoning"`
	Evidence       []evidenceJSON `json:"evidence,omitempty"`
	Remand         *remandJSON    `json:"remand,omitempty"`
}

type remandJSON struct {
	Answers    []replyJSON   `json:"answers"`
	Challenged []accountJSON `json:"challenged"`
}

type replyJSON struct {
	QuestionID string           `json:"question_id"`
	Status     abi.AnswerStatus `json:"status"`
	Evidence   []evidenceJSON   `json:"evidence"`
}

type accountJSON struct {
	EvidenceIndex int                  `json:"evidence_index"`
	Status        abi.ChallengedStatus `json:"status"`
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
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(out)
	return b.Bytes(), err
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

// decode reads an answer. What its values may be, the court checks.
func decode(line []byte) (host.LightResponse, error) {
	var a answerJSON
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil {
		return host.LightResponse{}, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return host.LightResponse{}, errors.New("more than one JSON value in a line")
	}
	if a.Classification == "" || a.Confidence == nil {
		return host.LightResponse{}, errors.New("classification and confidence are needed")
	}
	response := host.LightResponse{Answer: abi.LightAnswer{Classification: a.Classification, Confidence: *a.Confidence, Reasoning: a.Reasoning}}
	var err error
	if response.Evidence, err = decodeEvidence(a.Evidence); err != nil {
		return host.LightResponse{}, err
	}
	if a.Remand != nil {
		response.Remand, err = decodeRemand(a.Remand)
	}
	return response, err
}

func decodeEvidence(items []evidenceJSON) ([]abi.Evidence, error) {
	list := make([]abi.Evidence, len(items))
	for i, e := range items {
		if e.RelevanceConfidence == nil {
			return nil, fmt.Errorf("evidence[%d]: relevance_confidence is needed", i)
		}
		list[i] = abi.Evidence{SourceRef: e.SourceRef, Content: e.Content, RelevanceConfidence: *e.RelevanceConfidence, Supports: e.Supports, Element: e.Element}
	}
	return list, nil
}

func decodeRemand(r *remandJSON) (*abi.RemandAnswer, error) {
	out := &abi.RemandAnswer{}
	for i, a := range r.Answers {
		switch a.Status {
		case abi.Found, abi.NotFound, abi.Withdrawn:
		default:
			return nil, fmt.Errorf("remand.answers[%d].status: use found, not_found or withdrawn, not %q", i, a.Status)
		}
		items, err := decodeEvidence(a.Evidence)
		if err != nil {
			return nil, fmt.Errorf("remand.answers[%d].%w", i, err)
		}
		out.Answers = append(out.Answers, abi.RemandReply{QuestionID: a.QuestionID, Status: a.Status, Evidence: items})
	}
	for i, c := range r.Challenged {
		switch c.Status {
		case abi.ItemStands, abi.ItemWithdrawn:
		default:
			return nil, fmt.Errorf("remand.challenged[%d].status: use stands or withdrawn, not %q", i, c.Status)
		}
		out.Challenged = append(out.Challenged, abi.ChallengedReply(c))
	}
	return out, nil
}
