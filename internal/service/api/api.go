// Package api is what can be done with the docket service ([Operations]), and its HTTP API, described by OpenAPI 3.1: what its handlers take
// and give is what the document says, since the document is generated from them.
//
// It identifies nobody: auth.Authenticator goes around it. Errors are problems (see [wire.Problem]).
package api

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// Prefix begins the paths of all operations.
const Prefix = "/api/v1"

// Config of the API. Store, Now and Random must be set.
type Config struct {
	Store   *store.Store
	Now     func() time.Time
	Random  io.Reader // of tokens
	Version string    // of the program, for the document
	// MaxUpload is the most bytes of a docket, compressed or not; 0: 256 MiB.
	MaxUpload int64
	// Uploads is how many dockets are received at once; 0: 4. Others wait for UploadWait (0: 20 s), and are then rejected, to be sent again.
	Uploads    int
	UploadWait time.Duration
	// Graph is the graph of the court in a generation, to draw trials on. Nil: reports have no drawings.
	Graph func(ctx context.Context, generation int64) (*pipeline.Graph, error)
	// CheckGeneration says whether a generation that is to be added can be loaded, without running it on cases. Its blobs are in the
	// given map by their digests, or in the store. Nil: no generations can be added.
	CheckGeneration func(ctx context.Context, parts store.Parts, blobs map[string][]byte) error
	// Rejected, if not nil, is told of each request that the API rejects: the code of the problem.
	Rejected func(code string)
	Log      *slog.Logger       // nil: nothing is logged
	Tracing  *telemetry.Tracing // nil: no spans
	// Stop ends streams that follow a docket, so that the server can shut down. Nil: they end with their requests.
	Stop <-chan struct{}
}

// Defaults of Config.
const (
	DefaultMaxUpload = 256 << 20
	defaultUploads   = 4
	defaultWait      = 20 * time.Second // clients give up after a minute without an answer
)

// Operations are what the API and the pages can do. Each checks who asks (see package auth), validates, and notes in the audit log what was
// changed. Errors are problems, or those of package store: see [Operations.Reject]. Safe for concurrent use.
type Operations struct {
	Config
	uploads *slots
}

// New makes the operations of a process.
func New(config Config) *Operations {
	if config.MaxUpload == 0 {
		config.MaxUpload = DefaultMaxUpload
	}
	if config.Uploads == 0 {
		config.Uploads = defaultUploads
	}
	if config.UploadWait == 0 {
		config.UploadWait = defaultWait
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	return &Operations{config, newSlots(config.Uploads, config.Now)}
}

// server has the handlers.
type server struct {
	*Operations
	api huma.API
}

// Register adds the API to a mux, and the document at /openapi.json.
func (o *Operations) Register(mux *http.ServeMux) *huma.OpenAPI {
	useProblems()
	s := &server{o, humago.New(mux, huma.Config{
		OpenAPI:       document(o.Version),
		Formats:       map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat},
		DefaultFormat: "application/json",
	})}
	s.api.UseMiddleware(s.guard)
	s.dockets()
	s.streams()
	s.trials()
	s.corrections()
	s.generations()
	s.people()
	describe(s.api.OpenAPI())
	mux.HandleFunc("GET /openapi.json", s.openAPI)
	return s.api.OpenAPI()
}

// answer is what most operations answer with.
type answer[T any] struct{ Body T }

func reply[T any](body T, err error) (*answer[T], error) {
	if err != nil {
		return nil, err
	}
	return &answer[T]{body}, nil
}

// filled is a list that JSON has as one, not as null.
func filled[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// register adds an operation, whose errors are answered as problems.
func register[I, O any](s *server, op huma.Operation, do func(context.Context, *I) (*O, error)) {
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := do(ctx, in)
		if err != nil {
			return nil, s.Reject(ctx, err)
		}
		return out, nil
	})
}

// document is the head of the OpenAPI document.
func document(version string) *huma.OpenAPI {
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Shadowcourt", Version: version,
			Description: "Submit dockets of failing tests, follow their trials, correct verdicts, and manage the modules that try them. " +
				"Errors are problems in the form of RFC 9457.",
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers: []*huma.Server{{URL: "/", Description: "This server"}},
		Components: &huma.Components{
			Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				tokenScheme: {
					Type: "http", Scheme: "bearer",
					Description: "A token made by `shadowcourt serve token add`.",
				},
			},
		},
		Tags: []*huma.Tag{
			{Name: "dockets", Description: "Submit dockets and follow them"},
			{Name: "trials", Description: "Read cases and their trials"},
			{Name: "corrections", Description: "See what needs a person, and correct verdicts"},
			{Name: "modules", Description: "Generations of modules: add, activate, roll back"},
			{Name: "operations", Description: "Tokens and the audit log"},
		},
	}
}

const tokenScheme = "token"

// Keys of metadata of operations.
const (
	needsScope = "scope"  // an auth.Scope; empty for any
	isStream   = "stream" // true: the handler bounds body and times by itself
)

// operation begins the description of an operation.
func operation(id, method, path, tag string, scope auth.Scope, summary string) huma.Operation {
	op := huma.Operation{
		OperationID: id, Method: method, Path: Prefix + path, Tags: []string{tag}, Summary: summary,
		Security:     []map[string][]string{{tokenScheme: {}}},
		Metadata:     map[string]any{needsScope: scope},
		MaxBodyBytes: httplimit.BodyBytes,
	}
	switch scope {
	case "":
		op.Description = "Needs a token of any scope."
	case auth.Everywhere:
		op.Description = "Needs the scope " + string(auth.Operate) + ". Tokens that are limited to repositories are rejected."
	default:
		op.Description = "Needs the scope " + string(scope) + "."
	}
	return op
}

// guard checks scopes, and bounds ordinary requests.
func (s *server) guard(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	scope, _ := ctx.Operation().Metadata[needsScope].(auth.Scope)
	if fault := auth.Check(auth.From(r.Context()), scope); fault != nil {
		s.reject(w, r, fault)
		return
	}
	if path := emptyParameter(ctx.Operation(), r); path != "" {
		s.reject(w, r, invalid(path, abi.CodeInvalidValue, "is empty; leave it out, or give it a value"))
		return
	}
	if name, known := unknownParameter(ctx.Operation(), r); name != "" {
		s.reject(w, r, invalid("query."+cut(name, 80), abi.CodeUnknownField, "is no parameter of this operation, which has %s", known))
		return
	}
	if name := repeatedParameter(ctx.Operation(), r); name != "" {
		s.reject(w, r, invalid("query."+name, abi.CodeInvalidValue, "is given more than once"))
		return
	}
	if stream, _ := ctx.Operation().Metadata[isStream].(bool); stream {
		if most := ctx.Operation().MaxBodyBytes; most > httplimit.BodyBytes {
			r.Body = httplimit.Streaming(w, r.Body, most)
		}
		next(ctx)
		return
	}
	httplimit.Bound(w, r)
	next(ctx)
}

// emptyParameter is the path of a parameter that is given without a value and needs one. The library would read the request as if it was
// not there.
func emptyParameter(op *huma.Operation, r *http.Request) string {
	query := r.URL.Query()
	for _, p := range op.Parameters {
		s, given := p.Schema, query[p.Name]
		if p.In == "header" {
			given = r.Header.Values(p.Name)
		}
		if s == nil || s.Type == huma.TypeString && s.Format == "" && s.Pattern == "" && len(s.Enum) == 0 {
			continue
		}
		if p.In != "path" && slices.Contains(given, "") {
			return p.In + "." + p.Name
		}
	}
	return ""
}

// unknownParameter is a parameter of the query that the operation doesn't have, with those that it has. A typing error must not select more
// than was asked for.
func unknownParameter(op *huma.Operation, r *http.Request) (name, known string) {
	var names []string
	for _, p := range op.Parameters {
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
		if !slices.Contains(names, name) {
			return name, cmp.Or(strings.Join(names, ", "), "none")
		}
	}
	return "", ""
}

// repeatedParameter is a parameter of the query that has several values and takes one.
func repeatedParameter(op *huma.Operation, r *http.Request) string {
	given := r.URL.Query()
	for _, p := range op.Parameters {
		if p.In == "query" && len(given[p.Name]) > 1 && (p.Schema == nil || p.Schema.Type != huma.TypeArray) {
			return p.Name
		}
	}
	return ""
}

// reject answers with a problem.
func (s *server) reject(w http.ResponseWriter, r *http.Request, err error) {
	wire.WriteProblem(w, s.Reject(r.Context(), err))
}

// openAPI gives the document.
func (s *server) openAPI(w http.ResponseWriter, r *http.Request) {
	text, err := s.api.OpenAPI().MarshalJSON()
	if err != nil {
		s.reject(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}
