package court

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// script is a recorded trial, audit, or branch of an audit that another one follows: what depends on the moment is taken from it.
type script struct {
	trial    *record.Trial // whose contents they are
	over     map[int]bool  // at which looks the time of a trial was over
	calls    []*record.Call
	lights   []*record.Light
	answers  map[useKey]record.Digest
	branches map[branchKey][]*record.Call
	call     int          // the next one
	asked    int          // answers of Light so far
	last     *record.Call // the failure that was told, until it is noted
}

// NewReplay makes a Recorder that follows a recorded trial.
func NewReplay(contents record.Contents, trial *record.Trial) *Recorder {
	r := NewRecorder(contents)
	r.script = newScript(trial)
	return r
}

// NewAuditReplay makes a Recorder that follows the audit of a recorded trial.
func NewAuditReplay(contents record.Contents, trial *record.Trial) *Recorder {
	r := NewRecorder(contents)
	r.script = newAuditScript(trial)
	return r
}

// newScript is that of a trial.
func newScript(trial *record.Trial) *script {
	s := scriptOf(trial, trial.Calls())
	s.over = make(map[int]bool, len(trial.Over))
	for _, look := range trial.Over {
		s.over[look] = true
	}
	for i := range trial.Events {
		if l := trial.Events[i].Light; l != nil {
			s.lights = append(s.lights, l)
		}
	}
	return s
}

func scriptOf(trial *record.Trial, calls []*record.Call) *script {
	s := &script{trial: trial, calls: calls, answers: make(map[useKey]record.Digest)}
	for _, c := range calls {
		for _, u := range c.Uses {
			s.answers[useKey{u.Capability, u.Request}] = u.Answer
		}
	}
	return s
}

// replays says whether the trial follows another one.
func (r *Recorder) replays() bool { return r != nil && r.script != nil }

// answer gives what a module was answered. A log line has no answer to keep.
func (r *Recorder) answer(capability abi.Capability, request []byte) ([]byte, bool) {
	d, ok := r.script.answers[keyOfUse(capability, request)]
	if !ok {
		return nil, false
	}
	if d == record.DigestOf(nil) {
		return nil, true
	}
	return r.script.trial.Content(d)
}

// replayed gives the failure of a call that depended on the moment, if the
// same call is made again. Its error is nil for all calls that are to be made.
func (r *Recorder) replayed(b *broker, request []byte) error {
	if !r.replays() {
		return nil
	}
	s := r.script
	s.last = nil
	if s.call >= len(s.calls) {
		return nil
	}
	c := s.calls[s.call]
	s.call++
	if !c.Failure.Momentary() || c.Module != b.module || c.Node != b.at || c.Persona != b.by || c.Input != record.DigestOf(request) {
		return nil
	}
	s.last = c
	return &replayedError{c.Failure}
}

// told notes the failure that was told last as it stands in the record.
func (s *script) told(r *Recorder) bool {
	if s.last == nil {
		return false
	}
	c := *s.last
	r.note(record.Event{Call: &c})
	digests := []record.Digest{c.Input}
	for _, u := range c.Uses {
		digests = append(digests, u.Request, u.Answer)
	}
	for _, d := range digests {
		if message, ok := s.trial.Content(d); ok {
			r.kept[d] = message
		}
	}
	s.last = nil
	return true
}

// errMissing: a replay needs what the record does not have.
var errMissing = errors.New("is not in the record")

// light gives the next answer of Light.
func (s *script) light() (LightResponse, error) {
	if s.asked >= len(s.lights) {
		return LightResponse{}, fmt.Errorf("answer %d of Light %w", s.asked, errMissing)
	}
	l := s.lights[s.asked]
	s.asked++
	if f := l.Failure; f != nil {
		return LightResponse{}, &replayedError{f}
	}
	text, ok := s.trial.Content(l.Answer)
	if !ok {
		return LightResponse{}, fmt.Errorf("answer %d of Light %w", s.asked-1, errMissing)
	}
	return parseAnswer(text)
}

// replayedError is a failure that a record tells of.
type replayedError struct{ failure *record.Failure }

// Error gives the recorded message.
func (e *replayedError) Error() string { return e.failure.Message }

// Is says of a call that was cancelled that the time was over.
func (e *replayedError) Is(target error) bool {
	return target == context.DeadlineExceeded && e.failure.Cause == record.CauseCancelled
}

// again is the error that the call of a module had.
func (e *replayedError) again() error {
	if e.failure.Cause == record.CauseCancelled {
		return e
	}
	return &moduleError{
		Cause: trial.Cause(e.failure.Cause), Message: e.failure.Message, HostSide: e.failure.HostSide, Err: e,
	}
}

// branch begins the recorder of a branch. What it records comes before the next merge, in the order in which branches were
// begun, whichever ends first.
func (r *Recorder) branch(who string) *Recorder {
	if r == nil {
		return nil
	}
	b := NewRecorder(r.contents)
	if r.script != nil {
		b.script = r.script.branch(branchKey{r.mergeCount, who})
	}
	r.branches = append(r.branches, b)
	return b
}

// join takes what branches noted, which have all ended.
func (r *Recorder) join() {
	for _, b := range r.branches {
		r.events = append(r.events, b.events...)
		maps.Copy(r.kept, b.kept)
	}
	r.branches = nil
}

// endAudit puts the record of an audit into that of its trial.
func (r *Recorder) endAudit(trial *record.Trial, court string, modules []record.Part, result *trial.Audit) error {
	text, err := result.MarshalJSON()
	if err != nil {
		return err
	}
	a := &record.Audit{Court: court, Events: r.events, ResultDigest: record.DigestOf(text), Modules: modules}
	if r.contents != record.ContentsDigests {
		a.Result = text
	}
	trial.Attach(a, r.keptContents())
	return nil
}

// branchKey says which branch of a recorded audit it is: whose, and after how many merges.
type branchKey struct {
	merges int
	who    string
}

// newAuditScript is that of the audit of a trial.
func newAuditScript(trial *record.Trial) *script {
	var own []*record.Call
	branches := make(map[branchKey][]*record.Call)
	merges := 0
	for i := range trial.Audit.Events {
		e := &trial.Audit.Events[i]
		switch {
		case e.Merge != "":
			merges++
		case e.Call != nil && e.Call.Persona == "": // about edges, which no branch asks
			own = append(own, e.Call)
		case e.Call != nil:
			key := branchKey{merges, e.Call.Persona}
			branches[key] = append(branches[key], e.Call)
		}
	}
	s := scriptOf(trial, own)
	s.branches = branches
	return s
}

// branch is the script of one branch; one that the record does not have has no calls.
func (s *script) branch(key branchKey) *script { return scriptOf(s.trial, s.branches[key]) }
