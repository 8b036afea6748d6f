package api

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"go.opentelemetry.io/otel/attribute"
	otel "go.opentelemetry.io/otel/codes"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/telemetry"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

func (s *server) submitOperation() {
	op := operation("submit-docket", http.MethodPost, "/dockets", "dockets", auth.Submit, "Submit a docket")
	op.Description += fmt.Sprintf(" The body is a report in any format that `shadowcourt try` reads, as it is or compressed with gzip, with at most %d bytes "+
		"before and after decompression. Nothing but the body is read, whatever stands in it. With an Idempotency-Key a request can be sent again: "+
		"the same key, body and parameters give the same docket (200 instead of 202), another body or other parameters are rejected. Nobody sees a docket before all of it is received.", s.MaxUpload)
	op.Metadata[isStream] = true
	op.DefaultStatus = http.StatusAccepted
	binary := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	op.Responses = map[string]*huma.Response{
		"200": {Description: "There is a docket with this key, body and parameters already"},
	}
	register(s, op, s.submit)
	described := s.api.OpenAPI().Paths[op.Path].Post
	described.Responses["200"].Content, described.Responses["200"].Headers = described.Responses["202"].Content, described.Responses["202"].Headers
	for _, p := range described.Parameters {
		if p.Name == "Content-Encoding" { // in the document alone: the handler's answer is 415
			known := *p.Schema
			known.Enum = []any{"identity", "gzip", "x-gzip"}
			p.Schema = &known
		}
	}
	// Only now, and only in the document: the library would read and validate a body that it knows of.
	described.RequestBody = &huma.RequestBody{
		Required: true, Description: "A report of tests, or cases as JSON lines",
		Content: map[string]*huma.MediaType{
			"application/octet-stream": binary, "application/json": binary, "application/jsonl": binary, "application/xml": binary, "text/plain": binary,
		},
	}
}

// Submission is how a docket is submitted.
type Submission struct {
	Name       string `query:"name" maxLength:"200" doc:"Name of the docket, such as that of its file; faults name it"`
	Repository string `query:"repository" maxLength:"200" doc:"Repository of the code under test"`
	Revision   string `query:"revision" maxLength:"200" doc:"Revision of the code under test"`
	Format     string `query:"format" enum:"auto,jsonl,gotest,junit,reportportal,dotnet,results" default:"auto" doc:"Format of the report; auto finds it out. results are trials that a run of alibi or try held: they are checked and kept"`
	Generation int64  `query:"generation" minimum:"0" doc:"Generation of modules to try it with; 0: the one that is in force when it is submitted"`
	Groups     bool   `query:"groups" default:"true" doc:"Try failures of reports of tests once that failed in the same way"`
	Truth      bool   `query:"truth" doc:"Take the defect types that people gave in an export of ReportPortal for the truth"`
	Remember   bool   `query:"remember" doc:"Add the verdicts to the casebook when all cases are tried; needs the scope review, too"`
	Key        string `header:"Idempotency-Key" maxLength:"200" doc:"The same for a request that is sent again"`
	Encoding   string `header:"Content-Encoding" doc:"identity or gzip"`
}

type submitInput struct {
	Submission
	raw huma.Context
}

// Resolve keeps the request: the body is read as a stream.
func (i *submitInput) Resolve(ctx huma.Context) []error {
	i.raw = ctx
	return nil
}

type submitOutput struct {
	Status   int    `json:"-"`
	Location string `header:"Location" doc:"Path of the docket"`
	Body     store.Docket
}

// abortTime is how long the removal of a broken upload may take; after it retention removes it.
const abortTime = 10 * time.Second

func (s *server) submit(ctx context.Context, in *submitInput) (*submitOutput, error) {
	r, w := humago.Unwrap(in.raw)
	if r.ContentLength > s.MaxUpload {
		return nil, tooLarge(s.MaxUpload)
	}
	d, created, err := s.Submit(ctx, &in.Submission, httplimit.Streaming(w, r.Body, s.MaxUpload))
	out := &submitOutput{Status: http.StatusAccepted, Location: Prefix + "/dockets/" + strconv.FormatInt(d.ID, 10), Body: d}
	if !created {
		out.Status = http.StatusOK
	}
	return out, err
}

// Submit makes a docket of a report, unless there is one with its key already. It reads the body when there is a place for the upload.
func (o *Operations) Submit(ctx context.Context, in *Submission, report io.Reader) (d store.Docket, created bool, err error) {
	who, err := may(ctx, auth.Submit)
	switch {
	case err != nil:
		return d, false, err
	case in.Remember && !who.Can(auth.Review):
		return d, false, forbidden("to remember verdicts needs the scope review")
	case who.Limited() && !slices.Contains(who.Repositories, in.Repository):
		return d, false, forbidden("the token is limited: submit with the repository " + strings.Join(who.Repositories, " or "))
	}
	if err := run.CheckFormat(in.Format); err != nil && in.Format != Results {
		return d, false, invalid("query.format", abi.CodeInvalidValue, "%v", err)
	}
	if err := bounded(maxText, "query.name", in.Name, "query.repository", in.Repository, "query.revision", in.Revision, "header.Idempotency-Key", in.Key); err != nil {
		return d, false, err
	}
	if err := o.slot(ctx, who.Submitter); err != nil {
		return d, false, err
	}
	defer o.uploads.give(who.Submitter)
	b, err := openBody(report, in.Encoding, o.MaxUpload)
	if err != nil {
		return d, false, err
	}
	ctx, span := o.Tracing.Begin(ctx, telemetry.Producer, "docket")
	defer span.End()
	receive := o.receive
	if in.Format == Results {
		receive = o.receiveResults
	}
	if d, created, err = receive(ctx, who, in, b); err != nil {
		span.SetStatus(otel.Error, "rejected")
		return d, false, b.failure(err)
	}
	if span.IsRecording() {
		span.SetAttributes(attribute.Int64("shadowcourt.docket", d.ID), attribute.String("shadowcourt.format", d.Format), attribute.Int("shadowcourt.cases", d.Cases))
	}
	if !created {
		return d, false, nil
	}
	o.Log.InfoContext(ctx, "a docket was submitted", "docket", d.ID, "submitter", d.Submitter, "format", d.Format, "cases", d.Cases, "faults", d.Faults)
	return d, true, o.log(ctx, "docket.submit", "docket", d.ID, strconv.Itoa(d.Cases)+" cases")
}

// slot waits until the docket may be received. The context does not end when the client leaves, because net/http looks for that only when
// the body is read: the wait has a bound of its own.
func (o *Operations) slot(ctx context.Context, submitter string) error {
	waiting, end := context.WithTimeout(ctx, o.UploadWait)
	defer end()
	err := o.uploads.take(waiting, submitter)
	if err == nil {
		return nil
	}
	which := fmt.Sprintf("%d dockets are received at once", o.Uploads)
	if errors.Is(err, errOwn) {
		which = fmt.Sprintf("%d of the %d dockets that are received at once are yours, the most of one submitter", o.uploads.each(), o.Uploads)
	}
	return wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable,
		fmt.Sprintf("%s, and no place became free within %s; send it again", which, o.UploadWait))
}

// receive reads the body to its end, and makes a docket of it.
func (o *Operations) receive(ctx context.Context, who *auth.Identity, in *Submission, b *body) (d store.Docket, created bool, err error) {
	name, format := cmp.Or(in.Name, "docket"), in.Format
	inputs, err := run.One(name, b, format)
	if err != nil {
		return d, false, wire.NewProblem(http.StatusUnprocessableEntity, wire.BadDocket, err.Error())
	}
	inputs.Truth = in.Truth
	format = inputs.Format()
	upload, err := o.Store.Submit(ctx, store.Submission{
		Submitter: who.Submitter, Name: in.Name, Repository: in.Repository, Revision: in.Revision, Format: format,
		Key: in.Key, Generation: in.Generation, Remember: in.Remember, Traceparent: o.Tracing.Traceparent(ctx),
	})
	if err != nil {
		return d, false, err
	}
	defer o.abort(ctx, upload)
	entries := inputs.Entries("")
	if in.Groups && run.OfTests(format) {
		entries = run.Grouped(entries)
	}
	if err := add(ctx, upload, b, entries); err != nil {
		return d, false, err
	}
	digest, err := b.finish(in)
	if err != nil {
		return d, false, err
	}
	return upload.Finish(ctx, digest, slices.Sorted(maps.Keys(inputs.Passed)))
}

// abort removes an upload that did not come to its end.
func (o *Operations) abort(ctx context.Context, upload *store.Upload) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	defer cancel()
	if err := upload.Abort(ctx); err != nil {
		o.Log.WarnContext(ctx, "a broken upload was not removed", "error", err)
	}
}

// add stores the entries. A docket of which none can be tried is rejected with its first faults.
func add(ctx context.Context, upload *store.Upload, b *body, entries iter.Seq2[docket.Entry, error]) error {
	good, bad := 0, 0
	var faults []error
	for entry, err := range entries {
		if b.err != nil {
			return b.err // the fault is that of an entry that was cut off
		}
		if err == nil {
			good++
		} else if bad++; good == 0 && len(faults) < maxFaults {
			faults = append(faults, err)
		}
		if good == 0 && bad == maxUnread {
			break // nothing says that there is a case behind them
		}
		if err := upload.Add(ctx, &entry, err); err != nil {
			return err
		}
	}
	if b.err != nil || good > 0 || len(faults) == 0 {
		return b.err
	}
	detail, other := "no case of the docket can be tried", false
	for _, err := range faults {
		line, ok := errors.AsType[*docket.LineError](err)
		other = other || ok && line.OtherFormat()
	}
	if other {
		detail += "; is it another format?"
	}
	p := wire.NewProblem(http.StatusUnprocessableEntity, wire.BadDocket, detail)
	p.Entries = bad
	for _, err := range faults {
		_ = p.With(err)
	}
	return p
}

const (
	// maxFaults is how many faults are named of a docket that is rejected.
	maxFaults = 20
	// maxUnread is how many entries that can't be tried are read where none that can was before them.
	maxUnread = 1000
)

// finish reads what the reader of the format left, and gives the digest of the request: of its body, and of what it says beside.
func (b *body) finish(in *Submission) (string, error) {
	if _, err := io.Copy(io.Discard, b); err != nil {
		return "", err
	}
	settings, err := json.Marshal([]any{in.Name, in.Repository, in.Revision, in.Format, in.Generation, in.Groups, in.Truth, in.Remember, hex.EncodeToString(b.hash.Sum(nil))})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(settings)
	return hex.EncodeToString(sum[:]), nil
}

// failure says why an upload failed: what was wrong with the body comes before what that led to.
func (b *body) failure(err error) error {
	if b.err == nil {
		return err
	}
	var large *http.MaxBytesError
	switch {
	case errors.As(b.err, &large), errors.Is(b.err, errTooLarge):
		return tooLarge(b.max)
	case errors.Is(b.err, errCompressed):
		return wire.NewProblem(http.StatusBadRequest, wire.Invalid, b.err.Error())
	}
	if errors.Is(b.err, os.ErrDeadlineExceeded) {
		return wire.NewProblem(http.StatusRequestTimeout, wire.TimedOut, "the body came too slowly, or stood still; send it again").Because(b.err)
	}
	return wire.NewProblem(http.StatusBadRequest, wire.Invalid, "the body could not be read to its end; send it again").Because(b.err)
}

func tooLarge(most int64) error {
	return wire.NewProblem(http.StatusRequestEntityTooLarge, wire.TooLarge, fmt.Sprintf("the docket has more than %d bytes; split it, or raise --max-upload of the server", most))
}

// body is that of a docket which is received: decompressed, bounded and hashed while it is read.
type body struct {
	in   io.Reader
	hash hash.Hash
	left int64 // bytes that may still come, decompressed
	max  int64
	err  error // of reading, unless the end
}

var (
	errTooLarge   = errors.New("the body is too large")
	errCompressed = errors.New("the body is not gzip, as its Content-Encoding says")
)

// openBody begins to read a body. What it decompresses to is bounded like what is sent, so that a small body can't grow without end.
func openBody(raw io.Reader, encoding string, most int64) (*body, error) {
	b := &body{in: raw, hash: sha256.New(), left: most, max: most}
	switch encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(raw)
		if err != nil {
			b.err = compressed(err)
			return nil, b.failure(b.err)
		}
		b.in = unzipping{z}
	default:
		return nil, wire.NewProblem(http.StatusUnsupportedMediaType, wire.UnsupportedMedia, fmt.Sprintf("Content-Encoding %.40q is not read here: use gzip, or none", encoding))
	}
	return b, nil
}

// unzipping tells faults of the compression from those of the connection.
type unzipping struct{ *gzip.Reader }

func (u unzipping) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	return n, compressed(err)
}

func compressed(err error) error {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", errCompressed, err)
	}
	return err
}

// Read reads on. After an error it gives that again.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more byte than may come tells that there are more
	}
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		n, err = n-1, errTooLarge
	}
	_, _ = b.hash.Write(p[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
