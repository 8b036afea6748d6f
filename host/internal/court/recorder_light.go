package court

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// recordedLight is a Light outside of the court whose answers are recorded, or replayed.
type recordedLight struct {
	light    Light
	recorder *Recorder
}

// Answer asks, or gives what the record has.
func (l *recordedLight) Answer(ctx context.Context, req LightRequest) (LightResponse, error) {
	var response LightResponse
	var err error
	if l.recorder.script != nil {
		response, err = l.recorder.script.light()
	} else {
		response, err = l.light.Answer(ctx, req)
	}
	l.note(ctx, &req, &response, err)
	return response, err
}

// RecordedLight stands for a Light whose answers are in the record.
type RecordedLight struct{}

// Answer fails: the recorder answers in its place.
func (RecordedLight) Answer(context.Context, LightRequest) (LightResponse, error) {
	return LightResponse{}, errMissing
}

// note records an answer. It is JSON and not a message: what a Light says need
// not keep the rules of one.
func (l *recordedLight) note(ctx context.Context, req *LightRequest, response *LightResponse, err error) {
	r := l.recorder
	kept := r.contents != record.ContentsDigests
	e := &record.Light{}
	r.note(record.Event{Light: e})
	if req.Feedback != nil {
		e.Feedback = r.keep(codec.AppendRemandFeedback(nil, req.Feedback), kept)
	}
	var text []byte
	if err == nil {
		text, err = json.Marshal(answerJSONOf(response))
	}
	if err == nil {
		e.Answer = r.keep(text, kept)
		return
	}
	e.Failure = &record.Failure{Cause: record.CauseHost}
	if ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		e.Failure.Cause = record.CauseCancelled
	}
	if kept {
		e.Failure.Message = err.Error()
	}
}

// answerJSON is an answer of Light as records have it.
type answerJSON struct {
	Classification string      `json:"classification"`
	Confidence     float64     `json:"confidence"`
	Reasoning      string      `json:"reasoning"`
	Evidence       []itemJSON  `json:"evidence,omitempty"`
	Remand         *remandJSON `json:"remand,omitempty"`
}

type itemJSON struct {
	SourceRef           string      `json:"source_ref"`
	Content             string      `json:"content"`
	RelevanceConfidence float64     `json:"relevance_confidence"`
	Supports            string      `json:"supports,omitempty"`
	Element             abi.Element `json:"element,omitempty"`
}

type remandJSON struct {
	Answers    []replyJSON      `json:"answers"`
	Challenged []challengedJSON `json:"challenged"`
}

type replyJSON struct {
	QuestionID string           `json:"question_id"`
	Status     abi.AnswerStatus `json:"status"`
	Evidence   []itemJSON       `json:"evidence,omitempty"`
}

type challengedJSON struct {
	EvidenceIndex int                  `json:"evidence_index"`
	Status        abi.ChallengedStatus `json:"status"`
}

func answerJSONOf(r *LightResponse) *answerJSON {
	s := &answerJSON{
		Classification: r.Answer.Classification, Confidence: r.Answer.Confidence, Reasoning: r.Answer.Reasoning,
		Evidence: itemsJSON(r.Evidence),
	}
	if r.Remand == nil {
		return s
	}
	s.Remand = &remandJSON{}
	for _, a := range r.Remand.Answers {
		s.Remand.Answers = append(s.Remand.Answers, replyJSON{a.QuestionID, a.Status, itemsJSON(a.Evidence)})
	}
	for _, c := range r.Remand.Challenged {
		s.Remand.Challenged = append(s.Remand.Challenged, challengedJSON(c))
	}
	return s
}

func itemsJSON(items []abi.Evidence) []itemJSON {
	var list []itemJSON
	for _, e := range items {
		list = append(list, itemJSON(e))
	}
	return list
}

// parseAnswer is the way back.
func parseAnswer(text []byte) (LightResponse, error) {
	var s answerJSON
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return LightResponse{}, err
	}
	r := LightResponse{
		Answer:   abi.LightAnswer{Classification: s.Classification, Confidence: s.Confidence, Reasoning: s.Reasoning},
		Evidence: evidenceOf(s.Evidence),
	}
	if s.Remand == nil {
		return r, nil
	}
	r.Remand = &abi.RemandAnswer{}
	for _, a := range s.Remand.Answers {
		r.Remand.Answers = append(r.Remand.Answers, abi.RemandReply{QuestionID: a.QuestionID, Status: a.Status, Evidence: evidenceOf(a.Evidence)})
	}
	for _, c := range s.Remand.Challenged {
		r.Remand.Challenged = append(r.Remand.Challenged, abi.ChallengedReply(c))
	}
	return r, nil
}

func evidenceOf(items []itemJSON) []abi.Evidence {
	var list []abi.Evidence
	for _, s := range items {
		list = append(list, abi.Evidence(s))
	}
	return list
}
