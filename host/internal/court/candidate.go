package court

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
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Candidate says which modules a candidate court has in place of others, and which cases it tries. It tries them after the court, and
// with the same answers of Light, and decides nothing.
type Candidate struct {
	// Modules are wasm files by the persona that they would play, or by the name of the module that evaluates edges.
	Modules map[string][]byte
	// Share of the trials, above 0 and at most 1; which ones depends on the id of the case alone.
	Share float64
}

// CandidateError says why a candidate's court could not be made.
type CandidateError struct{ Err error }

// Error names the candidate.
func (e *CandidateError) Error() string { return "candidate: " + e.Err.Error() }

// Unwrap gives the reason.
func (e *CandidateError) Unwrap() error { return e.Err }

// candidate is a Candidate that was prepared.
type candidate struct {
	court *Court
	share float64
	files map[string][]byte // by the names that its pipelines have for them
	names map[string]string // those names, and whose place they take in results
	// light: it plays a part in the Light path, which may then answer otherwise.
	light bool
}

// newCandidate prepares the court of a candidate: the same with other modules, which nobody observes.
func (c *Court) newCandidate(with Candidate) (*candidate, error) {
	if !(with.Share > 0 && with.Share <= 1) { // NaN too
		return nil, fmt.Errorf("a share of %v: use a number above 0 and at most 1", with.Share)
	}
	if len(with.Modules) == 0 {
		return nil, errors.New("no module")
	}
	k := &candidate{share: with.Share, files: map[string][]byte{}, names: map[string]string{}}
	config := c.config
	config.Candidate, config.Observe, config.Logger = nil, nil, config.Logger.With(slog.String("court", "candidate"))
	config.Pipeline = cloneDefinition(c.graph.Definition())
	if c.lightPath != nil {
		config.LightPath = cloneDefinition(c.lightPath.graph.Definition())
	}
	for _, name := range slices.Sorted(maps.Keys(with.Modules)) {
		own := name + "-candidate"
		for slices.Contains(c.moduleNames(), own) {
			own += "-candidate"
		}
		court, light := recast(config.Pipeline, name, own), recast(config.LightPath, name, own)
		if !court && !light {
			return nil, c.unknownName(name)
		}
		k.files[own], k.names[own], k.light = with.Modules[name], name, k.light || light
	}
	var err error
	k.court, err = New(config)
	return k, err
}

// unknownName says who there is in place of a name that nobody has.
func (c *Court) unknownName(name string) error {
	var known []string
	for _, def := range c.definitions() {
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

// recast gives a persona another module; a name that is no persona's but a module's has it replaced wherever it evaluates edges. It says
// whether there was anything to change.
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

// selects says whether the candidate takes part in a trial: by a draw that depends on the id alone, whose SHA-256, as a number in
// [0, 1), is below the share.
func (k *candidate) selects(r *trial.Result) bool {
	if k == nil || !r.Activated && !k.light {
		return false
	}
	sum := sha256.Sum256([]byte(r.ID))
	return float64(binary.BigEndian.Uint64(sum[:])>>11)*math.Pow(2, -53) < k.share
}

// tryCandidate has the candidate try a case with the same modules and services. Its trial is nil when the context ended.
func (c *Court) tryCandidate(ctx context.Context, subject *abi.Case, o Options) Outcome {
	k := *c.candidate.court
	k.config.Casebook = c.config.Casebook
	o.Recorder = nil
	out, err := k.Try(ctx, *subject, o)
	if err != nil {
		return Outcome{} // the case was tried, so that only the context is left
	}
	modules := out.Trial.Result.Modules
	for own, name := range c.candidate.names {
		if digest, ok := modules[own]; ok {
			modules[name] = digest
			delete(modules, own)
		}
	}
	return out
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
