package court

import (
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

// isOver notes whether the time of the trial is over; one that is tried again
// hears what the first one heard. Its time has no end, so it is over now only
// for a caller who has gone.
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
	r.note(record.Event{Merge: record.DigestOfSum(digest)})
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

// answered notes what the module that was called last said of edges. A nil
// response was rejected.
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
