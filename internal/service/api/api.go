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
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
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
	// ProofKeys are the keys whose signatures are accepted in results that are pushed; nil: those of every key, which the pages then name.
	ProofKeys []*record.Key
	// Uploads is how many dockets are received at once; 0: 5. Others wait for UploadWait (0: 20 s), and are then rejected, to be sent again.
	Uploads    int
	UploadWait time.Duration
	// Labels are the names for people that the court of a generation has for labels. Nil: none.
	Labels func(ctx context.Context, generation int64) (map[string]string, error)
	// CheckGeneration says whether a generation that is to be added can be loaded, without running it on cases. Its blobs are in the
	// given map by their digests, or in the store. Of its references, those with nothing but Reference and Update are fetched first, when the trust
	// policy has accepted them: they are completed, the modules are added to parts and blobs, and fetched has a line about each. An error is a
	// problem, or the reason why the generation is rejected. Nil: no generations can be added.
	CheckGeneration func(ctx context.Context, parts *store.Parts, blobs map[string][]byte) (fetched []string, err error)
	// Accepts has the trust policy of now decide about a generation that is there. An error is a problem, or the reason for which it is rejected.
	// Nil: all are accepted.
	Accepts func(ctx context.Context, g *store.Generation) error
	// Unaccepted says why the trust policy does not accept the generation in force; empty if it does. Nil: it is always accepted.
	Unaccepted func(current int64) string
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
	defaultUploads   = 5
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
	config.MaxUpload = cmp.Or(config.MaxUpload, DefaultMaxUpload)
	config.Uploads = cmp.Or(config.Uploads, defaultUploads)
	config.UploadWait = cmp.Or(config.UploadWait, defaultWait)
	config.Log = cmp.Or(config.Log, slog.New(slog.DiscardHandler))
	return &Operations{config, newSlots(config.Uploads)}
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

// answer is what most operations answer with. Lists of the store are never nil, so that JSON has each as a list.
type answer[T any] struct{ Body T }

func reply[T any](body T, err error) (*answer[T], error) {
	if err != nil {
		return nil, err
	}
	return &answer[T]{body}, nil
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
	if err := checkParameters(ctx.Operation(), r); err != nil {
		s.reject(w, r, err)
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

// checkParameters rejects what the library would read as if it was not there: parameters of the query that the operation doesn't have, since
// a typing error must not select more than was asked for, that have several values and take one, or that need a value and have none.
func checkParameters(op *huma.Operation, r *http.Request) error {
	query := r.URL.Query()
	var names []string
	for _, p := range op.Parameters {
		given := r.Header.Values(p.Name)
		if p.In == "query" {
			names = append(names, p.Name)
			given = query[p.Name]
			if len(given) > 1 && (p.Schema == nil || p.Schema.Type != huma.TypeArray) {
				return invalid("query."+p.Name, abi.CodeInvalidValue, "is given more than once")
			}
		}
		text := p.Schema == nil || p.Schema.Type == huma.TypeString && p.Schema.Format == "" && p.Schema.Pattern == "" && len(p.Schema.Enum) == 0
		if p.In != "path" && !text && slices.Contains(given, "") {
			return invalid(p.In+"."+p.Name, abi.CodeInvalidValue, "is empty; leave it out, or give it a value")
		}
	}
	slices.Sort(names)
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(names, name) {
			return invalid("query."+sanitize.Cut(name, 80), abi.CodeUnknownField, "is no parameter of this operation, which has %s", cmp.Or(strings.Join(names, ", "), "none"))
		}
	}
	return nil
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

// describe adds to each operation the problems that it may answer with, and the parts of the document that no handler has in its types.
func describe(doc *huma.OpenAPI) {
	schema := doc.Components.Schemas.Schema(reflect.TypeFor[wire.Problem](), true, "")
	media := map[string]*huma.MediaType{wire.ProblemType: {Schema: schema}}
	for name, s := range doc.Components.Schemas.Map() {
		if strings.HasSuffix(name, "Request") {
			optionalMayBeNull(s)
		}
	}
	for _, path := range doc.Paths {
		for _, op := range []*huma.Operation{path.Get, path.Post, path.Delete} {
			if op == nil {
				continue
			}
			delete(op.Responses, "default")
			for _, status := range statuses(op) {
				op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: media}
			}
		}
	}
}

// optionalMayBeNull says what the library does: it reads a field that may be left out and is null as if it was left out.
func optionalMayBeNull(s *huma.Schema) {
	for name, field := range s.Properties {
		if field.Ref == "" && !slices.Contains(s.Required, name) {
			field.Nullable = true
		}
	}
}

// statuses are those of the problems of an operation.
func statuses(op *huma.Operation) []int {
	list := []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
	if slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "path" }) {
		list = append(list, http.StatusNotFound)
	}
	if op.RequestBody != nil {
		list = append(list, http.StatusNotFound, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if op.Method != http.MethodGet || op.OperationID == "explain-trial" {
		list = append(list, http.StatusConflict)
	}
	return list
}
