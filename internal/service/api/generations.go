package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// Bounds of uploaded modules.
const (
	// MaxGenerationBytes bounds a request with modules, in base64.
	MaxGenerationBytes = 64 << 20
	// maxReferences bounds a request with references; their modules together have at most three quarters of MaxGenerationBytes, as uploaded ones do.
	maxReferences = 32
	maxParts      = 256
	maxNote       = 1000 // characters
)

func (s *server) generations() {
	const tag = "modules"
	register(s, operation("list-generations", http.MethodGet, "/generations", tag, "", "List generations of modules, the latest first"), s.listGenerations)
	register(s, operation("get-generation", http.MethodGet, "/generations/{generation}", tag, "", "Read a generation"),
		func(ctx context.Context, in *generationPath) (*answer[store.Generation], error) {
			return reply(s.Store.Generation(ctx, in.ID))
		})
	add := operation("add-generation", http.MethodPost, "/generations", tag, auth.Everywhere, "Add a generation of modules")
	add.Description += " Modules are verified and loaded in a sandbox before they are kept; those of registries are fetched when the service's trust policy has accepted them. The generation is not in force until it is activated."
	add.DefaultStatus = http.StatusCreated
	add.Metadata[isStream] = true
	add.MaxBodyBytes = MaxGenerationBytes
	register(s, add, func(ctx context.Context, in *struct{ Body AddGenerationRequest }) (*answer[store.Generation], error) {
		return reply(s.AddGeneration(ctx, &in.Body))
	})
	activate := operation("activate-generation", http.MethodPost, "/generations/{generation}/activate", tag, auth.Everywhere, "Put a generation in force, be it a new or an old one")
	activate.Description += " Dockets that are submitted from then on are tried with it; those that wait or are tried keep theirs. A generation with modules that the service's trust policy no longer accepts is rejected."
	activate.Metadata[isStream] = true // the policy may have to ask a registry, for longer than an ordinary request may take
	register(s, activate, func(ctx context.Context, in *generationPath) (*answer[store.Generation], error) {
		return reply(s.Activate(ctx, in.ID))
	})
}

// GenerationsAnswer is a page of generations.
type GenerationsAnswer struct {
	Generations []store.Generation `json:"generations"`
	Current     int64              `json:"current" minimum:"0" doc:"ID of the one in force"`
	Unaccepted  string             `json:"unaccepted,omitempty" doc:"Why the service's trust policy does not accept the one in force, which goes on deciding; absent if it does"`
	Next        string             `json:"next,omitempty" doc:"Cursor of the next page; absent on the last"`
}

func (s *server) listGenerations(ctx context.Context, in *Page) (*answer[GenerationsAnswer], error) {
	list, err := s.Store.Generations(ctx, in.before(), in.Limit)
	if err != nil {
		return nil, err
	}
	current, err := s.Store.CurrentGeneration(ctx)
	return reply(GenerationsAnswer{list, current, s.UnacceptedNow(current), nextOf(in, list, func(g *store.Generation) int64 { return g.ID })}, err)
}

type generationPath struct {
	ID int64 `path:"generation" minimum:"1" doc:"ID of a generation"`
}

// AddGenerationRequest is a generation with the modules and files that it changes.
type AddGenerationRequest struct {
	Parent  int64             `json:"parent,omitempty" minimum:"0" doc:"Generation to change; 0: the current one"`
	Modules map[string][]byte `json:"modules,omitempty" doc:"Modules (base64) by name, in place of those of the parent"`
	Files   map[string][]byte `json:"files,omitempty" doc:"Pipelines, profiles and rubrics (base64) by what they are for, in place of those of the parent"`
	Canary  map[string][]byte `json:"canary,omitempty" doc:"Modules (base64) of a candidate court, by what they are in place of"`
	// References and CanaryReferences are modules of registries.
	References       map[string]string `json:"references,omitempty" doc:"References to modules of registries by name, in place of those of the parent: oci://HOST/REPOSITORY with :TAG, @sha256:DIGEST or both"`
	CanaryReferences map[string]string `json:"canary_references,omitempty" doc:"References to modules of a candidate court, by what they are in place of"`
	Share            float64           `json:"share,omitempty" minimum:"0" maximum:"1" doc:"Share of the trials that the candidate court tries, too; needed with canary"`
	Note             string            `json:"note,omitempty" maxLength:"1000" doc:"What to say of it"`
}

// AddGeneration adds a generation whose modules can be loaded. It is not in force.
func (o *Operations) AddGeneration(ctx context.Context, in *AddGenerationRequest) (store.Generation, error) {
	who, err := may(ctx, auth.Everywhere)
	if err != nil {
		return store.Generation{}, err
	}
	g, blobs, err := o.planGeneration(ctx, in)
	if err != nil {
		return g, err
	}
	g.Author = who.Name
	if o.CheckGeneration == nil {
		return g, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "this process can't check modules: ask one with the role api or all")
	}
	fetched, err := o.CheckGeneration(ctx, &g.Parts, blobs)
	if err != nil {
		return g, badModule("the generation can't be loaded", err)
	}
	for _, digest := range slices.Sorted(maps.Keys(blobs)) {
		if _, err := o.Store.AddBlob(ctx, blobs[digest]); err != nil {
			return g, err
		}
	}
	if g, err = o.Store.AddGeneration(ctx, g); err != nil {
		return g, err
	}
	details := strings.TrimSpace(strings.Join(append([]string{g.Note}, fetched...), "\n"))
	return g, o.log(ctx, "generation.add", "generation", g.ID, details)
}

// planGeneration gives the generation that a request describes, and the blobs that it brings.
func (o *Operations) planGeneration(ctx context.Context, in *AddGenerationRequest) (store.Generation, map[string][]byte, error) {
	g := store.Generation{Parts: store.Parts{Modules: map[string]string{}}}
	canary, referenced := len(in.Canary)+len(in.CanaryReferences), len(in.References)+len(in.CanaryReferences)
	switch parts := len(in.Modules) + len(in.Files) + len(in.References) + canary; {
	case parts == 0:
		return g, nil, invalid("body", abi.CodeEmpty, "give modules, references, files or a canary")
	case referenced > maxReferences:
		return g, nil, invalid("body", abi.CodeBadCount, "has more than %d references", maxReferences)
	case parts > maxParts:
		return g, nil, invalid("body", abi.CodeBadCount, "has more than %d modules and files", maxParts)
	case (canary > 0) != (in.Share > 0):
		return g, nil, invalid("body.share", abi.CodeInvalidValue, "a canary needs a share above 0, and a share needs a canary")
	case in.Share > 1:
		return g, nil, invalid("body.share", abi.CodeOutOfRange, "is above 1")
	}
	if err := bounded(maxNote, "body.note", in.Note); err != nil {
		return g, nil, err
	}
	parent := in.Parent
	if parent == 0 {
		var err error
		if parent, err = o.Store.CurrentGeneration(ctx); err != nil {
			return g, nil, err
		}
	}
	if parent != 0 {
		from, err := o.Store.Generation(ctx, parent)
		if err != nil {
			return g, nil, err
		}
		g.Parts = store.Parts{Modules: maps.Clone(from.Modules), Files: maps.Clone(from.Files), References: maps.Clone(from.References)}
	}
	g.Parent, g.Share, g.Note = parent, in.Share, in.Note
	blobs := map[string][]byte{}
	for name := range in.Modules {
		delete(g.References, name)
	}
	return g, blobs, errors.Join(place("modules", in.Modules, &g.Modules, blobs), place("files", in.Files, &g.Files, blobs), place("canary", in.Canary, &g.Canary, blobs),
		refer("references", in.References, in.Modules, &g.References), refer("canary_references", in.CanaryReferences, in.Canary, &g.CanaryReferences))
}

// refer notes what is to be fetched.
func refer(path string, from map[string]string, uploaded map[string][]byte, to *map[string]store.Reference) error {
	if *to == nil && len(from) > 0 {
		*to = map[string]store.Reference{}
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		switch {
		case !partName.MatchString(name):
			return invalidName(path, name)
		case uploaded[name] != nil:
			return invalid("body."+path+"."+name, abi.CodeInvalidValue, "is uploaded, too")
		}
		(*to)[name] = store.Reference{Reference: from[name]}
	}
	return nil
}

func invalidName(path, name string) error {
	return invalid("body."+path, abi.CodeInvalidValue, "%q is no name: use at most 64 letters, digits, - _ . :", sanitize.Cut(name, 80))
}

func place(path string, from map[string][]byte, to *map[string]string, blobs map[string][]byte) error {
	if *to == nil && len(from) > 0 {
		*to = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if !partName.MatchString(name) {
			return invalidName(path, name)
		}
		if len(from[name]) == 0 {
			return invalid("body."+path+"."+name, abi.CodeEmpty, "is empty")
		}
		sum := sha256.Sum256(from[name])
		digest := hex.EncodeToString(sum[:])
		(*to)[name], blobs[digest] = digest, from[name]
	}
	return nil
}

// partName is what the name of a module or file can be: no path.
var partName = regexp.MustCompile(`^[a-zA-Z0-9_:-][a-zA-Z0-9_:.-]{0,63}$`)

// Activate puts a generation in force.
func (o *Operations) Activate(ctx context.Context, generation int64) (g store.Generation, err error) {
	who, err := may(ctx, auth.Everywhere)
	if err == nil {
		err = o.accepts(ctx, generation)
	}
	if err == nil {
		g, err = o.Store.Activate(ctx, who.Name, generation)
	}
	if err != nil {
		return g, err
	}
	return g, o.log(ctx, "generation.activate", "generation", generation, "")
}

// UnacceptedNow is why the trust policy does not accept the generation in force; empty if it does: see Config.Unaccepted.
func (o *Operations) UnacceptedNow(current int64) string {
	if o.Unaccepted == nil {
		return ""
	}
	return o.Unaccepted(current)
}

// accepts says whether the trust policy of now accepts a generation: see Config.Accepts.
func (o *Operations) accepts(ctx context.Context, generation int64) error {
	if o.Accepts == nil {
		return nil
	}
	g, err := o.Store.Generation(ctx, generation)
	if err != nil {
		return err
	}
	if err = o.Accepts(ctx, &g); err != nil {
		return badModule(fmt.Sprintf("the trust policy does not accept generation %d", generation), err)
	}
	return nil
}

// badModule is the problem of a generation that is rejected. An error that is a problem stays as it is.
func badModule(what string, err error) error {
	if _, ok := errors.AsType[*wire.Problem](err); ok {
		return err
	}
	return wire.NewProblem(http.StatusUnprocessableEntity, wire.BadModule, what+": "+err.Error())
}
