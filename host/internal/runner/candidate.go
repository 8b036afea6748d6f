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
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Candidate says which modules the candidate court has in place of others, and which cases it tries.
type Candidate struct {
	// Modules are wasm files by the persona that they would play, or by the name of the module that evaluates edges.
	Modules map[string][]byte
	// Share of the trials, above 0 and at most 1; which ones depends on the id of the case alone.
	Share float64
}

// candidate is a Candidate that was prepared.
type candidate struct {
	court *Court
	share float64
	files map[string][]byte // by the names that its pipelines have for them
	names map[string]string // those names, and whose place they take in results
	// light: it plays a part in the Light path, which may then answer otherwise.
	light bool
}

// SetCandidate has a candidate try a share of the cases after the court. Call it once, before the modules are installed.
func (c *Court) SetCandidate(with Candidate) error {
	if !(with.Share > 0 && with.Share <= 1) { // NaN too
		return fmt.Errorf("a share of %v: use a number above 0 and at most 1", with.Share)
	}
	if len(with.Modules) == 0 {
		return errors.New("no module")
	}
	k := &candidate{share: with.Share, files: map[string][]byte{}, names: map[string]string{}}
	config := c.config
	if config.Logger != nil {
		config.Logger = config.Logger.With(slog.String("court", "candidate"))
	}
	config.Pipeline = cloneDefinition(c.graph.Definition())
	if c.lightGraph != nil {
		config.LightPath = cloneDefinition(c.lightGraph.Definition())
	}
	for _, name := range slices.Sorted(maps.Keys(with.Modules)) {
		own := name + "-candidate"
		for slices.Contains(c.Modules(), own) {
			own += "-candidate"
		}
		court, light := recast(config.Pipeline, name, own), recast(config.LightPath, name, own)
		if !court && !light {
			return c.noPlayer(name)
		}
		k.files[own], k.names[own], k.light = with.Modules[name], name, k.light || light
	}
	var err error
	if k.court, err = NewCourt(config); err != nil {
		return err
	}
	c.candidate = k
	return nil
}

// noPlayer says who there is in place of a name that nobody has.
func (c *Court) noPlayer(name string) error {
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

// selects says whether the candidate takes part in a trial.
func (k *candidate) selects(t *trial.Trial) bool {
	return k != nil && (t.Result.Activated || k.light) && selected(t.Result.ID, k.share)
}

// selected is a draw that depends on the id alone: its SHA-256, as a number in [0, 1), is below the share.
func selected(id string, share float64) bool {
	sum := sha256.Sum256([]byte(id))
	return float64(binary.BigEndian.Uint64(sum[:])>>11)*math.Pow(2, -53) < share
}

// try has the candidate try a case, with the modules of the generation that
// the trial in force had. Nil when the context ended.
func (k *candidate) try(ctx context.Context, generation *runtime.Generation, subject *abi.Case, answering court.Light, asked *bool) *trial.Trial {
	t, err := k.court.try(ctx, generation.Unobserved(k.court.config.Logger), subject, answering, nil, asked)
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
	light court.Light

	mu      sync.Mutex
	answers []remembered
}

type remembered struct {
	request  court.LightRequest
	response court.LightResponse
	err      error
}

// Answer asks Light what was not asked before.
func (r *remembering) Answer(ctx context.Context, req court.LightRequest) (court.LightResponse, error) {
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
func sameQuestion(a, b *court.LightRequest) bool {
	return reflect.DeepEqual(a.Feedback, b.Feedback) && reflect.DeepEqual(a.Previous, b.Previous) && slices.Equal(a.Evidence, b.Evidence)
}
