package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// Bounds of uploaded modules.
const (
	maxGenerationBytes = 64 << 20 // of a request, in base64
	maxParts           = 256
)

func (s *server) generations() {
	const tag = "modules"
	huma.Register(s.api, operation("list-generations", http.MethodGet, "/generations", tag, "", "List generations of modules, the latest first"), s.listGenerations)
	huma.Register(s.api, operation("get-generation", http.MethodGet, "/generations/{generation}", tag, "", "Read a generation"), s.getGeneration)
	add := operation("add-generation", http.MethodPost, "/generations", tag, auth.Everywhere, "Add a generation of modules")
	add.Description += " Modules are verified and loaded in a sandbox before they are kept. The generation is not in force until it is activated."
	add.DefaultStatus = http.StatusCreated
	add.Metadata[isStream] = true
	add.MaxBodyBytes = maxGenerationBytes
	huma.Register(s.api, add, s.addGeneration)
	activate := operation("activate-generation", http.MethodPost, "/generations/{generation}/activate", tag, auth.Everywhere, "Put a generation in force, be it a new or an old one")
	activate.Description += " Every live worker loads it first; if one can't, the activation is rejected and the current generation stays."
	activate.DefaultStatus = http.StatusAccepted
	huma.Register(s.api, activate, s.activate)
	huma.Register(s.api, operation("get-activation", http.MethodGet, "/activations/{activation}", tag, "", "Read how far an activation is"), s.getActivation)
	abandon := operation("abandon-activation", http.MethodDelete, "/activations/{activation}", tag, auth.Everywhere, "Abandon an activation that is pending")
	abandon.Description += " The current generation stays. An activation that was decided is a conflict."
	huma.Register(s.api, abandon, s.abandon)
	module := operation("get-module", http.MethodGet, "/modules/{digest}", tag, auth.Everywhere, "Read a module, a pipeline or a profile by its digest")
	module.Metadata[isStream] = true
	module.Responses = map[string]*huma.Response{
		"200": {Description: "The bytes of the module or file", Content: map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}},
	}
	huma.Register(s.api, module, s.getModule)
}

// Generation is a set of modules, pipelines and profiles that are in force together.
type Generation struct {
	ID      int64             `json:"id" minimum:"1" doc:"ID of the generation"`
	Parent  int64             `json:"parent,omitempty" minimum:"1" doc:"Generation that it was made from"`
	Current bool              `json:"current" doc:"Whether it is in force"`
	Modules map[string]string `json:"modules" doc:"SHA-256 of each module by its name"`
	Canary  map[string]string `json:"canary,omitempty" doc:"SHA-256 of each module of the candidate court by what it is in place of"`
	Files   map[string]string `json:"files,omitempty" doc:"SHA-256 of pipelines, profiles and rubrics by what they are for"`
	Share   float64           `json:"share,omitempty" minimum:"0" maximum:"1" doc:"Share of the trials that the candidate court tries, too"`
	Note    string            `json:"note,omitempty" doc:"What its author says of it"`
	Author  string            `json:"author" doc:"Who added it"`
	Created time.Time         `json:"created" doc:"When"`
}

func generationOf(g *store.Generation, current int64) Generation {
	modules := g.Parts.Modules
	if modules == nil {
		modules = map[string]string{}
	}
	return Generation{
		ID: g.ID, Parent: g.Parent, Current: g.ID == current, Modules: modules, Canary: g.Parts.Canary, Files: g.Parts.Files, Share: g.Share,
		Note: g.Note, Author: g.Author, Created: g.Created,
	}
}

type generationsOutput struct {
	Body struct {
		Generations []Generation `json:"generations"`
		Current     int64        `json:"current" minimum:"0" doc:"ID of the one in force"`
		Next        string       `json:"next,omitempty" doc:"Cursor of the next page; absent on the last"`
	}
}

func (s *server) listGenerations(ctx context.Context, in *Page) (*generationsOutput, error) {
	list, err := s.Store.Generations(ctx, in.before(), in.Limit)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	current, err := s.Store.CurrentGeneration(ctx)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	out := &generationsOutput{}
	out.Body.Current, out.Body.Generations = current, make([]Generation, len(list))
	for i := range list {
		out.Body.Generations[i] = generationOf(&list[i], current)
		out.Body.Next = in.next(len(list), list[i].ID)
	}
	return out, nil
}

type generationPath struct {
	ID int64 `path:"generation" minimum:"1" doc:"ID of a generation"`
}

type generationOutput struct {
	Body Generation
}

func (s *server) getGeneration(ctx context.Context, in *generationPath) (*generationOutput, error) {
	g, err := s.Store.Generation(ctx, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	current, err := s.Store.CurrentGeneration(ctx)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &generationOutput{generationOf(&g, current)}, nil
}

type addGenerationInput struct {
	Body struct {
		Parent  int64             `json:"parent,omitempty" minimum:"0" doc:"Generation to change; 0: the current one"`
		Modules map[string][]byte `json:"modules,omitempty" doc:"Modules (base64) by name, in place of those of the parent"`
		Files   map[string][]byte `json:"files,omitempty" doc:"Pipelines, profiles and rubrics (base64) by what they are for, in place of those of the parent"`
		Canary  map[string][]byte `json:"canary,omitempty" doc:"Modules (base64) of a candidate court, by what they are in place of"`
		Share   float64           `json:"share,omitempty" minimum:"0" maximum:"1" doc:"Share of the trials that the candidate court tries, too; needed with canary"`
		Note    string            `json:"note,omitempty" maxLength:"1000" doc:"What to say of it"`
	}
}

func (s *server) addGeneration(ctx context.Context, in *addGenerationInput) (*generationOutput, error) {
	g, blobs, err := s.planGeneration(ctx, in)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	if s.CheckGeneration == nil {
		return nil, s.fail(ctx, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "this process can't check modules: ask one with the role api or all"))
	}
	if err := s.CheckGeneration(ctx, g.Parts, blobs); err != nil {
		return nil, s.fail(ctx, wire.NewProblem(http.StatusUnprocessableEntity, wire.BadModule, "the generation can't be loaded: "+err.Error()))
	}
	for _, digest := range slices.Sorted(maps.Keys(blobs)) {
		if _, err := s.Store.AddBlob(ctx, blobs[digest]); err != nil {
			return nil, s.fail(ctx, err)
		}
	}
	added, err := s.Store.AddGeneration(ctx, g)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	current, err := s.Store.CurrentGeneration(ctx)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &generationOutput{generationOf(&added, current)}, s.log(ctx, "generation.add", "generation "+strconv.FormatInt(added.ID, 10), added.Note)
}

// planGeneration gives the generation that a request describes, and the blobs that it brings.
func (s *server) planGeneration(ctx context.Context, in *addGenerationInput) (store.Generation, map[string][]byte, error) {
	b := &in.Body
	var g store.Generation
	switch {
	case len(b.Modules)+len(b.Files)+len(b.Canary) == 0:
		return g, nil, invalid("body", abi.CodeEmpty, "give modules, files or a canary")
	case len(b.Modules)+len(b.Files)+len(b.Canary) > maxParts:
		return g, nil, invalid("body", abi.CodeBadCount, "has more than %d modules and files", maxParts)
	case (len(b.Canary) > 0) != (b.Share > 0):
		return g, nil, invalid("body.share", abi.CodeInvalidValue, "a canary needs a share above 0, and a share needs a canary")
	}
	parent := b.Parent
	if parent == 0 {
		current, err := s.Store.CurrentGeneration(ctx)
		if err != nil {
			return g, nil, err
		}
		parent = current
	}
	if parent != 0 {
		from, err := s.Store.Generation(ctx, parent)
		if err != nil {
			return g, nil, err
		}
		g.Parts = store.Parts{Modules: maps.Clone(from.Parts.Modules), Files: maps.Clone(from.Parts.Files)}
	}
	g.Parent, g.Share, g.Note, g.Author = parent, b.Share, b.Note, auth.From(ctx).Name
	blobs := map[string][]byte{}
	for _, of := range []struct {
		path string
		from map[string][]byte
		to   *map[string]string
	}{{"modules", b.Modules, &g.Parts.Modules}, {"files", b.Files, &g.Parts.Files}, {"canary", b.Canary, &g.Parts.Canary}} {
		if err := place(of.path, of.from, of.to, blobs); err != nil {
			return g, nil, err
		}
	}
	return g, blobs, nil
}

func place(path string, from map[string][]byte, to *map[string]string, blobs map[string][]byte) error {
	if *to == nil && len(from) > 0 {
		*to = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(from)) {
		if !isPartName(name) {
			return invalid("body."+path, abi.CodeInvalidValue, "%q is no name: use at most 64 letters, digits, - _ . :", cut(name, 80))
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

// isPartName says whether a name can be that of a module or file: no path.
func isPartName(name string) bool {
	const more = "-_.:"
	ok := name != "" && len(name) <= 64 && !strings.HasPrefix(name, ".")
	for _, c := range []byte(name) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(more, c) >= 0)
	}
	return ok
}

func cut(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// Activation is a request to put a generation in force.
type Activation struct {
	ID         int64      `json:"id" minimum:"1" doc:"ID of the activation"`
	Generation int64      `json:"generation" minimum:"1" doc:"Generation to put in force"`
	Author     string     `json:"author" doc:"Who asked for it"`
	State      string     `json:"state" enum:"pending,active,rejected" doc:"pending while workers load it"`
	Reason     string     `json:"reason,omitempty" doc:"Why it was rejected"`
	Created    time.Time  `json:"created" doc:"When it was asked for"`
	Finished   *time.Time `json:"finished,omitempty" doc:"When it was decided"`
	Workers    []Load     `json:"workers" doc:"Answers of workers"`
}

// Load is the answer of a worker.
type Load struct {
	Worker string `json:"worker" doc:"ID of the worker"`
	Loaded bool   `json:"loaded" doc:"Whether it answered"`
	Fault  string `json:"fault,omitempty" doc:"Why it can't load the generation"`
}

func activationOf(a *store.Activation) Activation {
	out := Activation{
		ID: a.ID, Generation: a.Generation, Author: a.Author, State: string(a.State), Reason: a.Reason, Created: a.Created, Finished: timeOf(a.Finished),
		Workers: make([]Load, len(a.Loads)),
	}
	for i, l := range a.Loads {
		out.Workers[i] = Load{Worker: l.Worker, Loaded: l.Loaded, Fault: l.Fault}
	}
	return out
}

type activationOutput struct {
	Body Activation
}

func (s *server) activate(ctx context.Context, in *generationPath) (*activationOutput, error) {
	a, err := s.Store.Activate(ctx, auth.From(ctx).Name, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &activationOutput{activationOf(&a)}, s.log(ctx, "generation.activate", "generation "+strconv.FormatInt(in.ID, 10), "")
}

type activationPath struct {
	ID int64 `path:"activation" minimum:"1" doc:"ID of an activation"`
}

func (s *server) getActivation(ctx context.Context, in *activationPath) (*activationOutput, error) {
	a, err := s.Store.Activation(ctx, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &activationOutput{activationOf(&a)}, nil
}

func (s *server) abandon(ctx context.Context, in *activationPath) (*activationOutput, error) {
	a, err := s.Store.Abandon(ctx, auth.From(ctx).Name, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &activationOutput{activationOf(&a)}, s.log(ctx, "generation.abandon", "generation "+strconv.FormatInt(a.Generation, 10), "")
}

type modulePath struct {
	Digest string `path:"digest" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 in hexadecimal digits"`
}

func (s *server) getModule(ctx context.Context, in *modulePath) (*huma.StreamResponse, error) {
	content, err := s.Store.Blob(ctx, in.Digest)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		r, w := humago.Unwrap(ctx)
		w = httplimit.Writing(w)
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", in.Digest))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}}, nil
}
