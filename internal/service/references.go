package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/internal/trust"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

const (
	// fetchTime is how long the modules of one generation may take to come.
	fetchTime = 2 * time.Minute
	// fetchWait is how long a request waits for others to fetch theirs.
	fetchWait = 20 * time.Second
	// fetchesAtOnce is for how many generations modules are fetched at a time, each of which holds them in memory.
	fetchesAtOnce = 2
	// fetchBytes is the most that the modules of registries in one request may have, as uploaded ones.
	fetchBytes int64 = api.MaxGenerationBytes / 4 * 3
	// maxShown is how much of a text of others an error shows.
	maxShown = 100
)

// Pipeline reads a pipeline of a generation, or the shipped one where the generation has none. name is PipelineFile or LightPathFile.
func Pipeline(files map[string][]byte, name string) (*pipeline.Definition, error) {
	text, ok := files[name]
	if !ok {
		return pipeline.LoadFS(pipelines.FS, map[string]string{PipelineFile: "defect-court.yaml", LightPathFile: "rca-investigation.yaml"}[name])
	}
	def, err := pipeline.Parse(name, text)
	if err != nil {
		return nil, fmt.Errorf("file %s of the generation: %w", name, err)
	}
	return def, nil
}

// court are the pipelines of a generation.
type court []*pipeline.Definition

func (s *Service) court(ctx context.Context, parts *store.Parts, blobs map[string][]byte) (court, error) {
	o, err := work.OpeningOf(ctx, both{blobs, s.config.Store}, &store.Generation{Parts: store.Parts{Files: parts.Files}}, "")
	if err != nil {
		return nil, err
	}
	def, err := Pipeline(o.Files, PipelineFile)
	light, lightErr := Pipeline(o.Files, LightPathFile)
	return court{def, light}, errors.Join(err, lightErr)
}

// use is what a module would do of the name that it has in a generation.
func (c court) use(name string, canary bool) (use trust.Use) {
	for _, def := range c {
		_, persona := def.Persona(name)
		for _, p := range trust.Parts(def) {
			plays := p.Module == name
			if canary { // which a persona's id names, or a module where it evaluates edges
				plays = p.Persona == name || p.Persona == "" && plays && !persona
			}
			if plays {
				use.Add(p)
			}
		}
	}
	slices.Sort(use.Roles)
	slices.Sort(use.Granted)
	return use
}

// wanted is a reference whose module is to be fetched, or decided about again since the pipelines now do more with it.
type wanted struct {
	path, name string
	use        trust.Use
	references map[string]store.Reference
	digests    map[string]string
}

// fetch fetches the modules that references name: see api.Config.CheckGeneration.
func (s *Service) fetch(ctx context.Context, parts *store.Parts, blobs map[string][]byte) (told []string, err error) {
	if fault := s.config.Trust.AllowsLocal(); fault != nil {
		if err := s.noLocal(ctx, parts, blobs, fault); err != nil {
			return nil, err
		}
	}
	if len(parts.References)+len(parts.CanaryReferences) == 0 {
		return nil, nil
	}
	if parts.Canary == nil {
		parts.Canary = map[string]string{}
	}
	court, err := s.court(ctx, parts, blobs)
	if err != nil {
		return nil, err
	}
	var list []wanted
	for canary, from := range []wanted{{path: "references", references: parts.References, digests: parts.Modules}, {path: "canary_references", references: parts.CanaryReferences, digests: parts.Canary}} {
		for _, name := range slices.Sorted(maps.Keys(from.references)) {
			from.name, from.use = name, court.use(name, canary == 1)
			if r := from.references[name]; r.Manifest == "" || !s.decided(from.use, &r) {
				list = append(list, from)
			}
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	select {
	case s.fetches <- struct{}{}:
		defer func() { <-s.fetches }()
	case <-time.After(fetchWait):
		return nil, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "modules are being fetched for other generations; try again in a minute").After(time.Minute)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	room := fetchBytes
	var faults []error
	for i := range list {
		w := &list[i]
		r := w.references[w.name]
		if err := s.fetchOne(ctx, w, &r, blobs, &room); err != nil {
			faults = append(faults, fmt.Errorf("%s.%s: %w", w.path, w.name, err))
			continue
		}
		w.references[w.name] = r
		told = append(told, fmt.Sprintf("%s: %s, manifest %s, signed by %s, accepted by %s", w.name, sanitize.Line(r.Reference), r.Manifest, sanitize.Line(r.Signer), r.Policy))
	}
	return told, errors.Join(faults...)
}

// noLocal rejects modules that came from files, with a fault; those with which the program or its store began are none.
func (s *Service) noLocal(ctx context.Context, parts *store.Parts, blobs map[string][]byte, fault error) error {
	began, err := work.BegunWith(ctx, s.config.Store)
	if err != nil {
		return err
	}
	for _, of := range []wanted{{references: parts.References, digests: parts.Modules}, {references: parts.CanaryReferences, digests: parts.Canary}} {
		for _, name := range slices.Sorted(maps.Keys(of.digests)) {
			digest := of.digests[name]
			if _, ok := of.references[name]; !ok && (blobs[digest] != nil || !began(name, digest)) {
				return fmt.Errorf("module %q: %w", name, fault)
			}
		}
	}
	return nil
}

// accepts has the policy of now decide about a generation of the store: see api.Config.Accepts. What this policy has accepted needs no request.
func (s *Service) accepts(ctx context.Context, g *store.Generation) error {
	parts := g.Parts
	parts.References, parts.CanaryReferences = maps.Clone(parts.References), maps.Clone(parts.CanaryReferences)
	_, err := s.fetch(ctx, &parts, nil)
	return err
}

// decided says whether the policy of now has accepted a module for a use: another one may have revoked its key.
func (s *Service) decided(use trust.Use, r *store.Reference) bool {
	digest := s.config.Trust.Digest()
	return digest != "" && strings.HasSuffix(r.Policy, " "+digest) && !slices.ContainsFunc(use.Roles, func(role string) bool { return !slices.Contains(r.Roles, role) }) &&
		!slices.ContainsFunc(use.Granted, func(c abi.Capability) bool { return !slices.Contains(r.Grants, string(c)) })
}

// covered reads a reference, for which requests may be sent.
func (s *Service) covered(reference string, use trust.Use) (moduleref.Ref, error) {
	ref, err := moduleref.Parse(reference)
	if err == nil && (ref.IsLayout() || ref.Tag() == "" && ref.Digest() == "") {
		err = fmt.Errorf("%q: use oci://HOST/REPOSITORY with :TAG, @sha256:DIGEST or both behind it", sanitize.Cut(sanitize.Line(reference), maxShown))
	}
	if err == nil {
		err = s.config.Trust.Covers(trust.Subject{Repository: ref.Repository()}, use)
	}
	return ref, err
}

// fetchOne has the policy decide about a module, completes its reference, and fetches the module if it is not there yet. room is how many bytes
// modules may still have.
func (s *Service) fetchOne(ctx context.Context, w *wanted, r *store.Reference, blobs map[string][]byte, room *int64) error {
	has := r.Manifest != ""
	if !has && len(w.use.Roles) == 0 { // else the policy would decide about a module that does nothing
		return errors.New("no pipeline of the generation names it; a canary is named by the persona that it plays, or by the module that evaluates edges (clerk)")
	}
	ref, err := s.covered(r.Reference, w.use)
	if err != nil {
		return err
	}
	if has {
		ref = ref.WithDigest(r.Manifest)
	}
	source := &trust.Source{Client: s.config.Registries, Policy: s.config.Trust, Now: s.config.Now}
	a, err := source.Client.Resolve(ctx, ref)
	if err != nil {
		return undecided(has, err)
	}
	decision, err := source.Decide(ctx, a, w.use)
	if err != nil {
		return undecided(has, err)
	}
	m, err := trust.Manifest(a.Annotations)
	if err != nil {
		return err
	}
	switch {
	case has && a.Layer.Digest != "sha256:"+w.digests[w.name]:
		return fmt.Errorf("the manifest %s is of another module", a.Digest)
	case !has:
		if *room -= a.Layer.Size; *room < 0 {
			return fmt.Errorf("the modules of one request may have at most %d bytes together", fetchBytes)
		}
		wasm, _, err := trust.Fetch(ctx, source.Client, a)
		if err != nil {
			return err
		}
		digest := record.DigestOf(wasm).Hex()
		w.digests[w.name], blobs[digest] = digest, wasm
	}
	grants := make([]string, len(w.use.Granted))
	for i, c := range w.use.Granted {
		grants[i] = string(c)
	}
	*r = store.Reference{
		Reference: r.Reference, Manifest: a.Digest, Name: m.Name, Version: m.Version, Signer: decision.Signer, Policy: decision.Policy,
		Roles: w.use.Roles, Grants: grants,
	}
	return nil
}

// undecided says of a module that the service has why the policy could not decide about it again; rejections stay as they are.
func undecided(has bool, err error) error {
	if _, rejected := errors.AsType[*strictyaml.Error](err); rejected || !has {
		return err
	}
	return fmt.Errorf("its signatures are needed, since the policy or what the module does is another than when it was accepted; neither the cache nor the registry has them: %w", err)
}

const (
	// reviewTick is how soon a generation that another process put in force is decided about.
	reviewTick = time.Minute
	// reviewAgain is when a generation that was not accepted is decided about again: the registry may answer by then.
	reviewAgain = time.Hour
)

// review is what the trust policy says of the generation in force.
type review struct {
	generation int64
	fault      string // empty: accepted
	at         time.Time
}

// decideAgain has the policy decide about the generation in force, at the start and whenever it is another one. It only warns: a service without a
// court would stop deciding for everybody, and who changed the policy may not be who can swap.
func (s *Service) decideAgain(ctx context.Context) error {
	current, err := s.config.Store.CurrentGeneration(ctx)
	if err != nil {
		return err
	}
	last := s.reviewed.Load()
	if last != nil && last.generation == current && (last.fault == "" || s.config.Now().Sub(last.at) < reviewAgain) {
		return nil
	}
	g, err := s.config.Store.Generation(ctx, current)
	if err != nil {
		return err
	}
	r := &review{generation: current, at: s.config.Now()}
	if err := s.accepts(ctx, &g); err != nil {
		if _, busy := errors.AsType[*wire.Problem](err); busy || ctx.Err() != nil {
			return err // it says nothing of the modules
		}
		r.fault = sanitize.Cut(sanitize.Line(err.Error()), 1000)
		s.config.Log.WarnContext(ctx, "the trust policy does not accept the generation in force, which goes on deciding: swap to another one", "generation", current, "error", r.fault)
	}
	s.reviewed.Store(r)
	return nil
}

// unaccepted is why the policy does not accept the generation in force; empty if it does, or has not decided yet.
func (s *Service) unaccepted(current int64) string {
	if r := s.reviewed.Load(); r != nil && r.generation == current {
		return r.fault
	}
	return ""
}
