package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// Results is the format of a body with trials that were held elsewhere: see [wire.PushFormat].
const Results = "results"

// push is results that a run pushed, while they are checked. Verdict and part of an answer are derived again from its label and its
// runs, and the proof is verified; nothing says here whether runs that nobody signed were made.
type push struct {
	*wire.PushReader

	problem *wire.Problem
	labels  map[string]string // of the pipeline, with their names
	ids     map[string]bool
	trials  []pushed
	key     string // that signed
}

type pushed struct {
	line   int
	trial  *trial.Trial
	answer *alibi.Answer // derived; nil where it is none of the alibi
	took   time.Duration
}

// receiveResults reads trials to the end of the body, and makes a docket of them that has ended.
func (o *Operations) receiveResults(ctx context.Context, who *auth.Identity, in *Submission, b *body) (d store.Docket, created bool, err error) {
	if in.Truth || in.Remember || in.Generation != 0 {
		return d, false, invalid("query.format", abi.CodeInvalidValue, "results are not tried: leave out report, truth, remember and generation")
	}
	p, err := readPush(ctx, b)
	if err != nil {
		return d, false, err
	}
	sent := store.Submission{
		Submitter: who.Submitter, Name: in.Name, Repository: in.Repository, Revision: in.Revision, Format: store.FormatResults, Key: in.Key,
		Traceparent: o.Tracing.Traceparent(ctx),
	}
	if p.Change != nil {
		sent.Format = store.FormatAlibi
		if sent.Revision == "" {
			sent.Revision = p.Change.Head
		} else if sent.Revision != p.Change.Head {
			p.fault("query.revision", abi.CodeInvalidValue, "is not the commit that was judged: leave it out")
		}
	}
	var record []byte
	if len(p.problem.Errors) == 0 {
		if record, err = p.verify(ctx, o.ProofKeys); err != nil {
			return d, false, err
		}
	}
	if len(p.problem.Errors) > 0 {
		p.problem.Detail = fmt.Sprintf("the results are rejected: %s: %s", p.problem.Errors[0].Path, p.problem.Errors[0].Message)
		return d, false, p.problem
	}
	upload, err := o.Store.Submit(ctx, sent)
	if err != nil {
		return d, false, err
	}
	defer o.abort(ctx, upload)
	for i := range p.trials {
		if err := upload.AddTried(ctx, p.entry(&p.trials[i]), p.verdict(&p.trials[i])); err != nil {
			return d, false, err
		}
	}
	digest, err := b.finish(in)
	if err != nil {
		return d, false, err
	}
	return upload.FinishTried(ctx, digest, record)
}

// readPush reads and checks the trials.
func readPush(ctx context.Context, in io.Reader) (*push, error) {
	r, err := wire.NewPushReader(in)
	if err != nil {
		return nil, pushError(1, err)
	}
	p := &push{
		PushReader: r, ids: map[string]bool{}, labels: map[string]string{},
		problem: wire.NewProblem(http.StatusUnprocessableEntity, wire.BadDocket, ""),
	}
	p.checkChange()
	for {
		line, err := r.Next()
		var bad *wire.PushLineError
		switch {
		case errors.Is(err, io.EOF):
			return p, nil
		case errors.As(err, &bad):
			p.fault(onLine(r.Line(), ""), abi.CodeInvalidValue, "can't be read: %s", bad)
			continue
		case err != nil:
			return nil, pushError(r.Line(), err)
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		p.add(line)
	}
}

// pushError is why a push can't be read on.
func pushError(line int, err error) error {
	if errors.Is(err, wire.ErrPushTooLarge) {
		return wire.NewProblem(http.StatusRequestEntityTooLarge, wire.TooLarge, err.Error()+": push fewer at once")
	}
	p := wire.NewProblem(http.StatusUnprocessableEntity, wire.BadDocket, fmt.Sprintf("the results can't be read: line %d: %s", line, sanitize.Line(err.Error())))
	return p.Add(wire.Fault{Path: onLine(line, ""), Code: string(abi.CodeInvalidValue), Message: sanitize.Line(err.Error())})
}

// onLine names a field of a line.
func onLine(line int, field string) string {
	if field != "" {
		field = ": " + field
	}
	return "line " + strconv.Itoa(line) + field
}

func (p *push) fault(path string, code abi.Code, format string, args ...any) {
	_ = p.problem.Add(wire.Fault{Path: path, Code: string(code), Message: sanitize.Line(fmt.Sprintf(format, args...))})
}

// commitForm is what the whole hash of a commit looks like.
var commitForm = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// checkChange checks what the trials are of.
func (p *push) checkChange() {
	c := p.Change
	if c == nil {
		if p.Key != "" || p.Pipeline != "" {
			p.fault(onLine(1, "change"), abi.CodeMissingField, "is missing: a key and a pipeline are of the alibi")
		}
		return
	}
	for _, commit := range [...]struct {
		field, id string
		optional  bool
	}{{"head", c.Head, false}, {"base", c.Base, false}, {"target", c.Target, true}} {
		if !commitForm.MatchString(commit.id) && (commit.id != "" || !commit.optional) {
			p.fault(onLine(1, "change."+commit.field), abi.CodeInvalidValue, "is not the whole hash of a commit")
		}
	}
	for _, text := range [...]struct{ field, text string }{{"base_why", c.Why}, {"tool.name", c.Tool.Name}, {"tool.version", c.Tool.Version}, {"tree", string(c.Tree)}} {
		if len(text.text) > maxText {
			p.fault(onLine(1, "change."+text.field), abi.CodeBadLength, "has more than %d bytes", maxText)
		}
	}
	def, err := pipeline.Parse("pipeline", []byte(p.Pipeline))
	if err != nil {
		p.fault(onLine(1, "pipeline"), abi.CodeInvalidValue, "%s", err)
		return
	}
	for _, l := range def.Labels {
		if !slices.Contains(alibi.Labels(), l.ID) {
			p.fault(onLine(1, "pipeline"), abi.CodeInvalidValue, "has the label %q, which is none of the alibi", sanitize.Cut(l.ID, 80))
			continue
		}
		p.labels[l.ID] = sanitize.Cut(l.Name, maxText)
	}
}

// add checks a trial and keeps it.
func (p *push) add(line *wire.Pushed) {
	at, n := p.Line(), len(p.problem.Errors)
	t, err := line.Trial()
	switch {
	case err != nil:
		p.fault(onLine(at, ""), abi.CodeInvalidValue, "%s", err)
	case t == nil || line.Encoded == nil || line.Story == nil:
		p.fault(onLine(at, ""), abi.CodeMissingField, "needs result, story and encoded")
	case t.Result.ID != t.Case.ID:
		p.fault(onLine(at, "result.id"), abi.CodeInvalidValue, "is %q, and the case is %q", sanitize.Cut(t.Result.ID, 80), sanitize.Cut(t.Case.ID, 80))
	case p.ids[t.Case.ID]:
		p.fault(onLine(at, "result.id"), abi.CodeDuplicateID, "the case %q has a result already", sanitize.Cut(t.Case.ID, 80))
	case !(line.Seconds >= 0 && line.Seconds <= maxSeconds):
		p.fault(onLine(at, "seconds"), abi.CodeOutOfRange, "must be at least 0 and at most %d", maxSeconds)
	}
	if len(p.problem.Errors) > n {
		return
	}
	p.ids[t.Case.ID] = true
	t.Beside = nil
	p.checkLabels(at, t)
	if err := alibi.CheckRuns(t.Result.Experiments); err != nil {
		p.fault(onLine(at, "result.experiments"), abi.CodeInvalidValue, "%s", err)
	}
	tried := pushed{line: at, trial: t, took: time.Duration(line.Seconds * float64(time.Second))}
	switch {
	case p.Change == nil && line.Answer != nil:
		p.fault(onLine(at, "answer"), abi.CodeUnknownField, "needs the change that it is about, in line 1")
	case p.Change != nil && line.Answer == nil:
		p.fault(onLine(at, "answer"), abi.CodeMissingField, "is missing")
	case p.Change != nil && len(p.problem.Errors) == n:
		tried.answer = p.derive(at, t, line.Answer)
	}
	p.trials = append(p.trials, tried)
}

// maxSeconds is how long the runs of one test may have taken.
const maxSeconds = 1_000_000

// checkLabels rejects labels that the case, or the pipeline, does not have.
func (p *push) checkLabels(at int, t *trial.Trial) {
	own := t.Case.Labels
	if len(own) > docket.MaxLabels {
		p.fault(onLine(at, "encoded.labels"), abi.CodeBadCount, "has %d labels, at most %d are allowed", len(own), docket.MaxLabels)
		return
	}
	for i, l := range own {
		if _, there := p.labels[l]; p.Change != nil && !there {
			p.fault(onLine(at, fmt.Sprintf("encoded.labels[%d]", i)), abi.CodeInvalidValue, "%q is no label of the pipeline", sanitize.Cut(l, 80))
		}
	}
	r := &t.Result
	answers := map[string]trial.Answer{"result.final": {Classification: r.Final.Classification, Confidence: r.Final.Confidence}}
	if r.Light != nil {
		answers["result.light"] = *r.Light
	}
	if r.Verdict != nil {
		answers["result.verdict"] = trial.Answer{Classification: r.Verdict.FinalClassification, Confidence: r.Verdict.Confidence}
	}
	for i := range r.LightAfter {
		answers[fmt.Sprintf("result.light_after[%d]", i)] = r.LightAfter[i]
	}
	if t.Truth != nil {
		answers["truth"] = trial.Answer{Classification: t.Truth.Classification}
	}
	for _, path := range slices.Sorted(maps.Keys(answers)) {
		a := answers[path]
		if a.Classification != "" && !slices.Contains(own, a.Classification) {
			p.fault(onLine(at, path), abi.CodeInvalidValue, "%q is no label of the case", sanitize.Cut(a.Classification, 80))
		}
		if !(a.Confidence >= 0 && a.Confidence <= 1) {
			p.fault(onLine(at, path), abi.CodeOutOfRange, "has a confidence that is not in [0, 1]")
		}
	}
	if !slices.Contains(trial.Statuses(), r.Final.Status) {
		p.fault(onLine(at, "result.final.status"), abi.CodeInvalidValue, "%q is no status", sanitize.Cut(string(r.Final.Status), 80))
	}
}

// derive derives the answer from the trial. What was stated must be that; the commit is taken as it is.
func (p *push) derive(at int, t *trial.Trial, stated *alibi.Answer) *alibi.Answer {
	own := alibi.Of(t)
	if stated.Verdict == alibi.IsOpen && own.Verdict != alibi.IsYours { // at the price of the court, whose profile is not here
		own.Refuse(sanitize.Cut(stated.Why, maxWhy))
		own.Lock, own.Next = stated.Lock, sanitize.Cut(stated.Next, maxWhy)
	}
	if !(stated.Confidence >= 0 && stated.Confidence <= 1) {
		p.fault(onLine(at, "answer.confidence"), abi.CodeOutOfRange, "is not in [0, 1]")
	}
	for _, field := range [...]struct{ name, was, is string }{
		{"id", stated.ID, own.ID},
		{"verdict", string(stated.Verdict), string(own.Verdict)},
		{"attribution", stated.Label, own.Label},
		{"part", string(stated.Part), string(own.Part)},
	} {
		if field.was != field.is {
			p.fault(onLine(at, "answer."+field.name), abi.CodeInvalidValue, "says %q, and by its case and runs it is %q", sanitize.Cut(field.was, 80), sanitize.Cut(field.is, 80))
		}
	}
	if len(stated.Runs) > 0 {
		p.fault(onLine(at, "answer.runs"), abi.CodeInvalidValue, "must be empty: the result has them")
	}
	if len(own.Runs) == 0 { // only the laboratory knows why
		own.Why = sanitize.Cut(stated.Why, maxWhy)
	}
	if own.DependsOnOrder() {
		own.FailsAfter(p.after(at, stated.After))
	} else if len(stated.After) > 0 {
		p.fault(onLine(at, "answer.after"), abi.CodeInvalidValue, "must be empty: no run shows that the order matters")
	}
	if c := stated.Culprit; c != nil {
		switch {
		case own.Verdict != alibi.IsYours:
			p.fault(onLine(at, "answer.culprit"), abi.CodeInvalidValue, "the failure is not yours")
		case !(c.Probability >= 0 && c.Probability <= 1):
			p.fault(onLine(at, "answer.culprit.probability"), abi.CodeOutOfRange, "is not in [0, 1]")
		case c.Commit != "" && !commitForm.MatchString(c.Commit):
			p.fault(onLine(at, "answer.culprit.commit"), abi.CodeInvalidValue, "is not the whole hash of a commit")
		}
		own.Culprit = c
	}
	return own
}

// after are the tests after which one fails, as far as they are taken.
func (p *push) after(at int, tests []string) []string {
	if len(tests) > alibi.MostAfter {
		p.fault(onLine(at, "answer.after"), abi.CodeOutOfRange, "has more than %d tests", alibi.MostAfter)
		return nil
	}
	list := make([]string, len(tests))
	for i, test := range tests {
		list[i] = sanitize.Cut(test, maxName)
	}
	return list
}

const maxName = 500

// maxWhy is the most characters of a reason that is taken as it is.
const maxWhy = 2000

// entry is the case of a trial as it is kept.
func (p *push) entry(t *pushed) *docket.Entry {
	e := &docket.Entry{Case: t.trial.Case, Members: t.trial.Members, Truth: t.trial.Truth, LabelNames: t.trial.LabelNames, Source: "results", Line: t.line}
	if t.answer != nil {
		e.LabelNames = p.labels
	}
	return e
}

func (p *push) verdict(t *pushed) store.NewVerdict {
	v := store.NewVerdict{Trial: t.trial, Took: t.took}
	if a := t.answer; a != nil {
		v.Alibi = &store.Alibi{
			Verdict: a.Verdict, Label: a.Label, Part: a.Part, Why: a.Why, Next: a.Next, Culprit: a.Culprit, Seconds: t.took.Seconds(), Change: *p.Change, Key: p.key,
		}
	}
	return v
}

// sameJSON says whether two values are the same as JSON.
func sameJSON(a, b any) bool {
	one, err := json.Marshal(a)
	two, otherErr := json.Marshal(b)
	return err == nil && otherErr == nil && string(one) == string(two)
}

// verify reads the proof behind the trials, if there is one: its signatures and its chain must hold, and it must be of these trials. keys are
// those whose signatures are accepted; nil for every key. The text is nil where nothing is signed.
func (p *push) verify(ctx context.Context, keys []*record.Key) ([]byte, error) {
	text, err := p.Record()
	if err != nil {
		return nil, pushError(p.Line()+1, err)
	}
	if p.Key == "" {
		if len(text) > 0 {
			p.fault(onLine(p.Line()+1, ""), abi.CodeUnknownField, "stands behind the last trial, and line 1 has no key for a record")
		}
		return nil, nil
	}
	key, err := record.ParseKey([]byte(p.Key))
	switch {
	case err != nil:
		p.fault(onLine(1, "key"), abi.CodeInvalidValue, "%s", err)
	case key.Signs():
		p.fault(onLine(1, "key"), abi.CodeInvalidValue, "is a private key, which others have seen now: make a new one, and send the public one")
	case len(keys) > 0 && !slices.ContainsFunc(keys, func(k *record.Key) bool { return k.ID() == key.ID() }):
		p.fault(onLine(1, "key"), abi.CodeInvalidValue, "is %s, which is no key that this service accepts", key.ID())
	default:
		p.key = key.ID()
		return text, p.checkRecord(ctx, text, key)
	}
	return nil, nil
}

// checkRecord verifies a record, and compares its trials and its proof with those that were pushed.
func (p *push) checkRecord(ctx context.Context, text []byte, key *record.Key) error {
	first := p.Line() + 1
	recorded := map[string]*record.Trial{}
	var verifier alibi.Verifier
	var header *record.Header
	stop := false
	report, err := record.Verify(ctx, bytes.NewReader(text), key, func(e *record.Entry, head record.Digest) {
		if e.Header != nil {
			header = e.Header
		}
		if e.Trial != nil {
			recorded[e.Trial.ID] = e.Trial
		}
		if err := verifier.Add(e, head); err != nil && !stop {
			stop = true
			p.fault(onLine(first+e.Sequence, ""), abi.CodeInvalidValue, "%s", err)
		}
	})
	switch {
	case err != nil:
		return err
	case report.Fault != nil:
		p.fault(onLine(first+report.Fault.Entry, ""), abi.CodeInvalidValue, "%s", report.Fault.Err)
	case stop:
	case !report.Closed || verifier.Proof == nil:
		p.fault(onLine(first, ""), abi.CodeMissingField, "the record has no proof, or does not end")
	case header.Pipeline != p.Pipeline:
		p.fault(onLine(1, "pipeline"), abi.CodeInvalidValue, "is another one than that of the record")
	case !sameJSON(verifier.Proof.Change, *p.Change):
		p.fault(onLine(1, "change"), abi.CodeInvalidValue, "is another one than that of the proof")
	case len(verifier.Proof.Answers) != len(p.trials):
		p.fault(onLine(1, "trials"), abi.CodeBadCount, "the proof has %d answers", len(verifier.Proof.Answers))
	default:
		for _, a := range verifier.Proof.Answers {
			p.checkProved(a, recorded[a.ID])
		}
	}
	return nil
}

// checkProved compares a trial with what the record and the proof have of it.
func (p *push) checkProved(a *alibi.Answer, was *record.Trial) {
	i := slices.IndexFunc(p.trials, func(t pushed) bool { return t.trial.Case.ID == a.ID })
	if i < 0 {
		p.fault(onLine(1, "trials"), abi.CodeMissingField, "the answer to %q of the proof is missing", sanitize.Cut(a.ID, 80))
		return
	}
	t := &p.trials[i]
	switch {
	case was == nil || !sameCase(was, t.trial.Case):
		p.fault(onLine(t.line, "encoded"), abi.CodeInvalidValue, "the case has another digest than in the record")
	case !sameResult(was.Result, &t.trial.Result, a):
		p.fault(onLine(t.line, "result"), abi.CodeInvalidValue, "is another one than in the record")
	case !sameJSON(a, t.answer):
		p.fault(onLine(t.line, "answer"), abi.CodeInvalidValue, "is another one than in the proof")
	}
}

// sameCase says whether a case is the recorded one, but for the answer of Light and the evidence that it gathered behind that of the case.
func sameCase(was *record.Trial, is abi.Case) bool {
	message, _ := was.Content(was.Case)
	recorded, err := codec.DecodeCase(message, len(message))
	if err != nil || len(recorded.Evidence) > len(is.Evidence) {
		return false
	}
	is.Light, is.Evidence = recorded.Light, is.Evidence[:len(recorded.Evidence)]
	return record.DigestOf(codec.AppendCase(nil, &is)) == was.Case
}

// sameResult compares results but for the experiments, since those of Light stand in the answer alone. The final label is the answer's.
func sameResult(was json.RawMessage, is *trial.Result, a *alibi.Answer) bool {
	var recorded trial.Result
	if err := json.Unmarshal(was, &recorded); err != nil {
		return false
	}
	own := *is
	recorded.Experiments, own.Experiments = nil, nil
	recorded.Final = a.Final(recorded.Final)
	return sameJSON(recorded, own)
}
