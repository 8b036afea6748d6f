package runner

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/registry"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Candidate is the court in force with other modules for some of its personas.
// It tries a share of the cases that came to a trial, after the court in force
// and with the same Light: the same answers of a [Light] of the caller's, which
// is asked once more only where the candidate remands otherwise. It decides
// nothing: results are the same with and without it, and neither Observe nor
// the result knows its calls. A swap that leaves it without apart sides is
// rejected.
type Candidate struct {
	// Modules are wasm files by the persona that they would play, or by the name
	// of the module that evaluates edges.
	Modules map[string][]byte
	// Share of the trials that it takes part in, above 0 and at most 1. Which ones
	// depends on Seed and the id of the case alone.
	Share float64
	Seed  uint64
}

// candidate is a Candidate made ready.
type candidate struct {
	host  *Host // on the registry of the one in force
	share float64
	seed  uint64
	files map[string][]byte // by the names that its pipelines have for them
	names map[string]string // those names, and whose place they take in results
	// light: it plays a part in the Light path, which may then say otherwise.
	light bool
}

// CandidateError says why a candidate's court could not be made.
type CandidateError struct{ Err error }

// Error names the candidate.
func (e *CandidateError) Error() string { return "candidate: " + e.Err.Error() }

// Unwrap gives the reason.
func (e *CandidateError) Unwrap() error { return e.Err }

// prepareCandidate makes the candidate's court, if there is one.
func (h *Host) prepareCandidate() error {
	c := h.config.Candidate
	if c == nil {
		return nil
	}
	if !(c.Share > 0 && c.Share <= 1) { // NaN too
		return &CandidateError{fmt.Errorf("a share of %v: use a number above 0 and at most 1", c.Share)}
	}
	if len(c.Modules) == 0 {
		return &CandidateError{errors.New("no module")}
	}
	k := &candidate{share: c.Share, seed: c.Seed, files: map[string][]byte{}, names: map[string]string{}}
	config := h.config
	config.Candidate, config.Observe, config.Record, config.Store = nil, nil, "", nil
	if config.Logger != nil {
		config.Logger = config.Logger.With(slog.String("court", "candidate"))
	}
	config.Pipeline = cloneDefinition(h.graph.Definition())
	if h.lightGraph != nil {
		config.LightPath = cloneDefinition(h.lightGraph.Definition())
	}
	for _, name := range slices.Sorted(maps.Keys(c.Modules)) {
		own := name + "-candidate"
		for slices.Contains(h.modules(), own) {
			own += "-candidate"
		}
		court, light := recast(config.Pipeline, name, own), recast(config.LightPath, name, own)
		if !court && !light {
			return &CandidateError{h.noPlayer(name)}
		}
		k.files[own], k.names[own], k.light = c.Modules[name], name, k.light || light
	}
	k.host = &Host{config: config}
	if err := k.host.prepare(); err != nil {
		return &CandidateError{err}
	}
	h.candidate = k
	return nil
}

// noPlayer says who there is in place of a name that nobody has.
func (h *Host) noPlayer(name string) error {
	var known []string
	for _, def := range h.definitions() {
		for i := range def.Personas {
			known = append(known, def.Personas[i].ID)
		}
		for _, module := range def.Modules() {
			if !slices.Contains(known, module) {
				known = append(known, module)
			}
		}
	}
	return fmt.Errorf("there is no persona and no module %q: use %s", name, strings.Join(known, ", "))
}

// cloneDefinition copies what recast changes.
func cloneDefinition(def *pipeline.Definition) *pipeline.Definition {
	clone := *def
	clone.Personas, clone.Edges = slices.Clone(def.Personas), slices.Clone(def.Edges)
	return &clone
}

// recast gives a persona another module; a name that is no persona's but a
// module's has it replaced wherever it evaluates edges. It says whether there
// was anything to change.
func recast(def *pipeline.Definition, name, module string) bool {
	if def == nil {
		return false
	}
	if p, ok := def.Persona(name); ok {
		p.Module = module
		return true
	}
	found := false
	for i := range def.Edges {
		if e := &def.Edges[i]; !e.Unconditional() && e.Module == name {
			e.Module, found = module, true
		}
	}
	return found
}

// needs are those of its modules, with all that its court needs of the others.
func (h *Host) needs() []registry.Need {
	defs := h.definitions()
	if h.candidate != nil {
		defs = append(defs, h.candidate.host.definitions()...)
	}
	return runtime.Needs(defs...)
}

// selects says whether the candidate takes part in a trial.
func (k *candidate) selects(t *trial.Trial) bool {
	return k != nil && (t.Result.Activated || k.light) && selected(k.seed, t.Result.ID, k.share)
}

// selected is a draw that depends on the seed and the id alone: SHA-256 of
// both, as a number in [0, 1), is below the share.
func selected(seed uint64, id string, share float64) bool {
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, seed), id...))
	return float64(binary.BigEndian.Uint64(sum[:])>>11)*math.Pow(2, -53) < share
}

// try has the candidate try a case, with the modules of the generation that
// the trial in force had. Nil when the context ended.
func (k *candidate) try(ctx context.Context, generation *registry.Generation, subject *abi.Case, answering Light) *trial.Trial {
	t, err := k.host.tryIn(ctx, generation, subject, answering, nil)
	if err != nil {
		return nil // the case was tried, so that only the context is left
	}
	for own, name := range k.names {
		if digest, ok := t.Result.Modules[own]; ok {
			t.Result.Modules[name] = digest
			delete(t.Result.Modules, own)
		}
	}
	return t
}

// remembering is a Light that answers the same question of one trial the same.
type remembering struct {
	light Light

	mu      sync.Mutex
	answers []remembered
}

type remembered struct {
	request  LightRequest
	response LightResponse
	err      error
}

// Answer asks Light what was not asked before.
func (r *remembering) Answer(ctx context.Context, req LightRequest) (LightResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.answers {
		if a := &r.answers[i]; sameQuestion(&a.request, &req) {
			return a.response, a.err
		}
	}
	response, err := r.light.Answer(ctx, req)
	response.Evidence = slices.Clip(response.Evidence) // for two to append to
	if ctx.Err() == nil {
		r.answers = append(r.answers, remembered{req, response, err})
	}
	return response, err
}

// sameQuestion compares all but the case, which is the trial's.
func sameQuestion(a, b *LightRequest) bool {
	return reflect.DeepEqual(a.Feedback, b.Feedback) && reflect.DeepEqual(a.Previous, b.Previous) && slices.Equal(a.Evidence, b.Evidence)
}
