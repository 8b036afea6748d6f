package court

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Recorder records one trial or one audit, or a branch of an audit, and steers one that is replayed. One goroutine uses it.
// A nil Recorder records nothing.
type Recorder struct {
	contents   record.Contents
	events     []record.Event
	kept       map[record.Digest][]byte
	over       []int       // at which looks the time was over
	looked     int         // how often the trial has looked at the clock
	mergeCount int         // so far
	branches   []*Recorder // since the last merge
	script     *script
}

// NewRecorder makes a Recorder that keeps what contents says.
func NewRecorder(contents record.Contents) *Recorder {
	return &Recorder{contents: contents, kept: make(map[record.Digest][]byte)}
}

// isOver notes whether the time of the trial is over; one that is tried again hears what the first one heard. Its time has no end, so it is
// over now only for a caller who has gone.
func (r *Recorder) isOver(now bool) bool {
	if r == nil {
		return now
	}
	if r.script != nil {
		now = now || r.script.over[r.looked]
	}
	if now {
		r.over = append(r.over, r.looked)
	}
	r.looked++
	return now
}

// merges is what a state tells its digests; nil where nothing is recorded.
func (r *Recorder) merges() func(digest [32]byte) {
	if r == nil {
		return nil
	}
	return r.merged
}

// merged notes a merge, and before it what the branches did that were merged.
func (r *Recorder) merged(digest [32]byte) {
	r.join()
	r.mergeCount++
	r.note(record.Event{Merge: record.Digest(sandbox.Digest(digest).String())})
}

func (r *Recorder) note(e record.Event) { r.events = append(r.events, e) }

// keep notes a message, and keeps it where it is of a kind that is kept.
func (r *Recorder) keep(message []byte, kept bool) record.Digest {
	d := record.DigestOf(message)
	if kept {
		r.kept[d] = message
	}
	return d
}

// begin makes the entry of a call. The uses, which the broker has, are those so far.
func (r *Recorder) begin(b *broker, call abi.Call, request []byte) *record.Call {
	bytes := r.contents == record.ContentsBytes
	if bytes {
		request = slices.Clone(request) // whose buffer is used again
	}
	c := &record.Call{Node: b.at, Persona: b.by, Module: b.module, Kind: call, Input: r.keep(request, bytes)}
	for i := range b.uses {
		u := &b.uses[i]
		c.Uses = append(c.Uses, record.Use{
			Capability: u.Capability, Request: r.keep(u.Request, r.contents != record.ContentsDigests),
			Answer: r.keep(u.Answer, r.contents != record.ContentsDigests),
		})
	}
	r.note(record.Event{Call: c})
	return c
}

// called notes a call that gave something.
func (r *Recorder) called(b *broker, call abi.Call, request []byte, output *sandbox.Output) {
	if r == nil {
		return
	}
	c := r.begin(b, call, request)
	c.Output, c.Fuel = r.keep(output.Bytes, r.contents == record.ContentsBytes), output.Fuel
}

// failed notes a call that gave nothing.
func (r *Recorder) failed(b *broker, call abi.Call, request []byte, err error) {
	if r == nil {
		return
	}
	if r.script != nil && r.script.told(r) {
		return
	}
	r.begin(b, call, request).Failure = r.failure(err)
}

// failure states why something failed.
func (r *Recorder) failure(err error) *record.Failure {
	f := &record.Failure{Cause: record.CauseCancelled}
	if module, ok := errors.AsType[*moduleError](err); ok {
		f.Cause, f.HostSide = string(module.Cause), module.HostSide
	}
	if r.contents != record.ContentsDigests || f.Momentary() {
		f.Message = err.Error() // what a host says of the moment tells nothing of a case
	}
	return f
}

// answered notes what the module that was called last said of edges. A nil response was rejected.
func (r *Recorder) answered(questions []abi.EdgeQuestion, response *abi.EdgeResponse) {
	if r == nil || response == nil || len(response.Answers) != len(questions) {
		return
	}
	c := r.events[len(r.events)-1].Call
	for i, a := range response.Answers {
		e := record.Edge{ID: questions[i].ID, Evaluator: questions[i].Evaluator, Fires: a.Fires}
		if r.contents != record.ContentsDigests {
			e.Why = a.Why
		}
		c.Edges = append(c.Edges, e)
	}
}

// End completes the record of a trial.
func (r *Recorder) End(subject *abi.Case, modules []record.Part, result *trial.Result) (*record.Trial, error) {
	own := *result
	own.Timings = nil
	line, err := own.MarshalJSON()
	if err != nil {
		return nil, err
	}
	kept := r.contents != record.ContentsDigests
	trial := &record.Trial{
		ID: subject.ID, Case: r.keep(codec.AppendCase(nil, subject), kept), Events: r.events, Over: r.over,
		ResultDigest: record.DigestOf(line), Modules: modules, Kept: r.contents,
	}
	if kept {
		trial.Result = line
	}
	trial.Contents = r.keptContents()
	return trial, nil
}

// keptContents are the messages that are kept, in the order of their digests.
func (r *Recorder) keptContents() []record.Content {
	var list []record.Content
	for _, d := range slices.Sorted(maps.Keys(r.kept)) {
		list = append(list, record.Content{Digest: d, Bytes: r.kept[d]})
	}
	return list
}

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

// note records an answer. It is JSON and not a message: what a Light says need not keep the rules of one.
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
