package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// trail records one trial or one audit, or a branch of an audit, and leads one
// that is tried again. One goroutine uses it. The methods of a nil trail do
// nothing.
type trail struct {
	contents record.Contents
	events   []record.Event
	kept     map[record.Digest][]byte
	over     []int // at which looks the time was over
	looked   int   // how often the trial has looked at the clock
	merges   int
	branches []*trail // since the last merge
	script   *script
}

func newTrail(contents record.Contents) *trail {
	return &trail{contents: contents, kept: make(map[record.Digest][]byte)}
}

// Over notes whether the time of the trial is over; one that is tried again
// hears what the first one heard. Its time has no end, so it is over now only
// for a caller who has gone.
func (t *trail) Over(now bool) bool {
	if t.script != nil {
		now = now || t.script.over[t.looked]
	}
	if now {
		t.over = append(t.over, t.looked)
	}
	t.looked++
	return now
}

// Merged notes a merge, and before it what the branches did that were merged.
func (t *trail) Merged(digest [32]byte) {
	t.join()
	t.merges++
	t.note(record.Event{Merge: record.DigestOfSum(digest)})
}

func (t *trail) note(e record.Event) { t.events = append(t.events, e) }

// keep notes a message, and keeps it where it is of a kind that is kept.
func (t *trail) keep(message []byte, kept bool) record.Digest {
	d := record.DigestOf(message)
	if kept {
		t.kept[d] = message
	}
	return d
}

// begin makes the entry of a call. The uses, which stand in the desk, are those so far.
func (t *trail) begin(d *desk, call abi.Call, request []byte) *record.Call {
	bytes := t.contents == record.ContentsBytes
	if bytes {
		request = slices.Clone(request) // whose buffer is used again
	}
	c := &record.Call{Node: d.at, Persona: d.by, Module: d.module, Kind: call, Input: t.keep(request, bytes)}
	for i := range d.uses {
		u := &d.uses[i]
		c.Uses = append(c.Uses, record.Use{
			Capability: u.Capability, Request: t.keep(u.Request, t.contents != record.ContentsDigests),
			Answer: t.keep(u.Answer, t.contents != record.ContentsDigests),
		})
	}
	t.note(record.Event{Call: c})
	return c
}

// called notes a call that gave something.
func (t *trail) called(d *desk, call abi.Call, request []byte, output *sandbox.Output) {
	if t == nil {
		return
	}
	c := t.begin(d, call, request)
	c.Output, c.Fuel = t.keep(output.Bytes, t.contents == record.ContentsBytes), output.Fuel
}

// failed notes a call that gave nothing.
func (t *trail) failed(d *desk, call abi.Call, request []byte, err error) {
	if t == nil {
		return
	}
	if t.script != nil && t.script.told(t) {
		return
	}
	t.begin(d, call, request).Failure = t.failure(err)
}

// failure states why something failed.
func (t *trail) failure(err error) *record.Failure {
	f := &record.Failure{Cause: record.CauseCancelled}
	if module, ok := errors.AsType[*invoker.ModuleError](err); ok {
		f.Cause, f.HostSide = string(module.Cause), module.HostSide
	}
	if t.contents != record.ContentsDigests || f.Momentary() {
		f.Message = err.Error() // what a host says of the moment tells nothing of a case
	}
	return f
}

// answered notes what the module that was called last said of edges. A nil
// response was rejected.
func (t *trail) answered(questions []abi.EdgeQuestion, response *abi.EdgeResponse) {
	if t == nil || response == nil || len(response.Answers) != len(questions) {
		return
	}
	c := t.events[len(t.events)-1].Call
	for i, a := range response.Answers {
		e := record.Edge{ID: questions[i].ID, Evaluator: questions[i].Evaluator, Fires: a.Fires}
		if t.contents != record.ContentsDigests {
			e.Why = a.Why
		}
		c.Edges = append(c.Edges, e)
	}
}

// end completes the record of a trial.
func (t *trail) end(subject *abi.Case, modules []record.Part, result *trial.Result) (*record.Trial, error) {
	own := *result
	own.Timings = nil
	line, err := own.MarshalJSON()
	if err != nil {
		return nil, err
	}
	kept := t.contents != record.ContentsDigests
	trial := &record.Trial{
		ID: subject.ID, Case: t.keep(codec.AppendCase(nil, subject), kept), Events: t.events, Over: t.over,
		ResultDigest: record.DigestOf(line), Modules: modules, Kept: t.contents,
	}
	if kept {
		trial.Result = line
	}
	trial.Contents = t.keptContents()
	return trial, nil
}

// keptContents are the messages that are kept, in the order of their digests.
func (t *trail) keptContents() []record.Content {
	var list []record.Content
	for _, d := range slices.Sorted(maps.Keys(t.kept)) {
		list = append(list, record.Content{Digest: d, Bytes: t.kept[d]})
	}
	return list
}

// parts are the modules of a generation that trials have, in the order of their names.
func (h *Host) parts(generation *registry.Generation) []record.Part {
	digests := generation.Digests()
	if h.candidate != nil {
		maps.DeleteFunc(digests, func(name, _ string) bool { _, own := h.candidate.names[name]; return own })
	}
	list := make([]record.Part, 0, len(digests))
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		list = append(list, record.Part{Name: name, Digest: record.Digest(digests[name])})
	}
	return list
}

// RecordHeader gives the header of a record of this host's trials.
// configuration is that of the host, and what the caller adds to it.
func (h *Host) RecordHeader(configuration []Part) (*record.Header, error) {
	header := &record.Header{
		Contents: h.config.Record, Instrumentation: sandbox.Instrumentation,
		ExternalLight: h.config.Light != nil, Reclassified: h.config.Reclassify || h.light != nil,
	}
	for _, p := range configuration {
		header.Configuration = append(header.Configuration, record.Part{Name: p.Name, Digest: record.Digest(p.Digest)})
	}
	texts, err := h.pipelineTexts()
	if err != nil {
		return nil, err
	}
	header.Pipeline = texts[0]
	if len(texts) > 1 {
		header.LightPath = texts[1]
	}
	if p := h.config.Profile; p != nil {
		header.Profile = codec.AppendProfile(nil, p)
	}
	court := h.court.Limits()
	header.Court = codec.AppendCourtConfig(nil, &court)
	header.Limits = h.callLimits()
	return header, nil
}

// callLimits are those of every call, as records have them.
func (h *Host) callLimits() record.CallLimits {
	limits := h.engine.Limits()
	return record.CallLimits{
		MemoryBytes: limits.MemoryBytes, WallClockNanos: int64(limits.WallClock), OutputBytes: limits.OutputBytes,
		InputBytes: limits.InputBytes, Fuel: limits.Fuel,
	}
}

// TryRecorded is [Host.Try] with the record of the trial, which is nil where
// Config.Record is empty.
func (h *Host) TryRecorded(ctx context.Context, subject abi.Case) (*trial.Trial, *record.Trial, error) {
	generation, err := h.registry.Acquire()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = generation.Release(context.WithoutCancel(ctx)) }()
	return h.tryOnce(ctx, generation, subject, h.newTrail())
}

func (h *Host) newTrail() *trail {
	if h.config.Record == "" {
		return nil
	}
	return newTrail(h.config.Record)
}

// keepModules puts modules into the store, where there is one.
func (h *Host) keepModules(files map[string][]byte) error {
	if h.config.Store == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, err := h.config.Store.Put(files[name]); err != nil {
			return fmt.Errorf("keep module %q: %w", name, err)
		}
	}
	return nil
}
