package api

import (
	"archive/tar"
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// streams registers the operations whose answers are written while they are read.
func (s *server) streams() {
	results := s.streamOperation("read-docket-results", "/dockets/{docket}/results", "Read the results of a docket, one a line",
		"application/jsonl", "A result a line, in the order of the docket: the bytes that `shadowcourt try --format jsonl` writes")
	results.Description += " While the docket runs, the results end before the first case that waits; with wait they go on until the docket has ended. " +
		"Cases that could not be tried have no line; see its entries."
	register(s, results, s.results)

	trials := s.streamOperation("read-docket-trials", "/dockets/{docket}/trials", "Read the whole trials of a docket, one a line",
		"application/jsonl", "A line for each entry in the order of the docket")
	trials.Description += " The form of the lines may change with the version of the service: use the results and single trials where they will do."
	register(s, trials, s.wholeTrials)

	records := s.streamOperation("read-docket-records", "/dockets/{docket}/records", "Read the signed records of a docket", "application/x-tar",
		"A tar archive with a record for each trial; `shadowcourt verify` verifies each. Cases that were tried before, in another docket, have the "+
			"record of then, signed by the key that the service had then")
	register(s, records, s.records)
}

func (s *server) streamOperation(id, path, summary, contentType, description string) huma.Operation {
	op := operation(id, http.MethodGet, path, "dockets", "", summary)
	op.Metadata[isStream] = true
	op.Responses = map[string]*huma.Response{"200": {Description: description, Content: map[string]*huma.MediaType{contentType: {Schema: &huma.Schema{Type: huma.TypeString}}}}}
	return op
}

// stream answers with what write writes of a docket. An error of it cuts the connection, so that nobody takes a part for the whole.
func (s *server) stream(ctx context.Context, docket int64, contentType string, header map[string]string, write func(ctx context.Context, w io.Writer) error) (*huma.StreamResponse, error) {
	if _, err := s.Store.Docket(ctx, docket); err != nil {
		return nil, err
	}
	return s.streamed(contentType, header, write), nil
}

// streamed is stream of what is in no docket alone.
func (s *server) streamed(contentType string, header map[string]string, write func(ctx context.Context, w io.Writer) error) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		_, w := humago.Unwrap(ctx)
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", contentType)
		out := httplimit.Writing(w)
		w.WriteHeader(http.StatusOK)
		if err := write(ctx.Context(), out); err != nil {
			if ctx.Context().Err() == nil {
				s.Log.WarnContext(ctx.Context(), "a stream was cut off", "path", ctx.URL().Path, "error", err)
			}
			panic(http.ErrAbortHandler)
		}
	}}
}

// FollowInput are the parameters of streams that follow a docket.
type FollowInput struct {
	DocketPath
	From int  `query:"from" minimum:"1" maximum:"1000000" default:"1" doc:"Place in the docket to begin at"`
	Wait bool `query:"wait" doc:"Wait for cases that are not tried yet, until the docket has ended"`
}

// pollTime is how long a stream that follows a docket waits for an event before it looks by itself.
const pollTime = 10 * time.Second

// follow calls each with the entries of a docket in its order. Without wait it stops at the first one that waits; otherwise it waits for
// each, until the docket has ended. Those that will never be tried are passed over. idle is called before each wait.
func (s *server) follow(ctx context.Context, in *FollowInput, read func(context.Context, int64, int) iter.Seq2[*store.Tried, error],
	idle func(d *store.Docket) error, each func(*store.Tried) error,
) error {
	changes := s.Store.Subscribe(ctx) // before the first look, so that no change is missed
	for next := in.From; ; {
		d, err := s.Store.Docket(ctx, in.ID)
		if err != nil {
			return err
		}
		for t, err := range read(ctx, in.ID, next) {
			if err != nil {
				return err
			}
			waits := t.Status == "" && t.Fault == ""
			if waits && !d.State.Ended() {
				break
			}
			if next = t.Ordinal + 1; waits {
				continue
			}
			if err := each(t); err != nil {
				return err
			}
		}
		if d.State.Ended() || !in.Wait {
			return nil
		}
		if err := idle(&d); err != nil {
			return err
		}
		if err := s.await(ctx, changes, in.ID); err != nil {
			return err
		}
	}
}

// await waits until a docket may have changed.
func (s *server) await(ctx context.Context, changes <-chan store.Event, docketID int64) error {
	timer := time.NewTimer(pollTime)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Stop:
			return errStopping
		case <-timer.C:
			return nil
		case e, ok := <-changes:
			if !ok {
				return errStopping
			}
			if e.Kind == store.EventResync || e.Kind == store.EventDocket && e.ID == docketID {
				return nil
			}
		}
	}
}

var errStopping = errors.New("the server is stopping")

// tarTime is that of files in an archive of records: the same docket gives the same bytes.
var tarTime = time.Unix(0, 0)

func (s *server) records(ctx context.Context, in *DocketPath) (*huma.StreamResponse, error) {
	ids, err := s.Store.Records(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	header := map[string]string{"Content-Disposition": fmt.Sprintf(`attachment; filename="docket-%d-records.tar"`, in.ID)}
	return s.stream(ctx, in.ID, "application/x-tar", header, func(ctx context.Context, w io.Writer) error {
		archive := tar.NewWriter(w)
		for _, id := range ids {
			body, err := s.Store.Record(ctx, id)
			if err != nil {
				return err
			}
			if err := archive.WriteHeader(&tar.Header{
				Typeflag: tar.TypeReg, Name: fmt.Sprintf("docket-%d/%d.record", in.ID, id), Size: int64(len(body)), Mode: 0o644, ModTime: tarTime,
			}); err != nil {
				return err
			}
			if _, err := archive.Write(body); err != nil {
				return err
			}
		}
		return archive.Close()
	})
}

// batched collects small writes; flush before a wait.
func batched(w io.Writer) *bufio.Writer { return bufio.NewWriterSize(w, 64<<10) }

// results are those that `shadowcourt try` writes.
func (s *server) results(ctx context.Context, in *FollowInput) (*huma.StreamResponse, error) {
	return s.stream(ctx, in.ID, "application/jsonl", nil, func(ctx context.Context, w io.Writer) error {
		b := batched(w)
		lines := render.NewJSONL(b)
		err := s.follow(ctx, in, s.Store.Results, func(*store.Docket) error { return b.Flush() }, func(t *store.Tried) error {
			if t.Trial == nil {
				return nil
			}
			t.Trial.Result.Timings = nil
			return lines.Write(t.Trial)
		})
		return errors.Join(err, b.Flush())
	})
}

type trialsInput struct {
	FollowInput
	Form string `query:"form" enum:"results,summary,whole" default:"results" doc:"How much of each trial to give: its result; also the names of labels, and the case without documents; or all of it"`
}

func (s *server) wholeTrials(ctx context.Context, in *trialsInput) (*huma.StreamResponse, error) {
	form := wire.Form(in.Form)
	read := s.Store.Results
	if form != wire.Results {
		read = s.Store.Trials
	}
	return s.stream(ctx, in.ID, "application/jsonl", nil, func(ctx context.Context, w io.Writer) error {
		b := batched(w)
		lines := json.NewEncoder(b)
		lines.SetEscapeHTML(false)
		open := func(*store.Docket) error {
			_ = b.WriteByte('\n') // keeps the connection open; an error comes with the flush
			return b.Flush()
		}
		err := s.follow(ctx, &in.FollowInput, read, open, func(t *store.Tried) error {
			line, err := lineOf(t, form)
			if err != nil {
				return err
			}
			return lines.Encode(line) //nolint:musttag // the truth bears the names of Go, as in journals
		})
		return errors.Join(err, b.Flush())
	})
}

func lineOf(t *store.Tried, form wire.Form) (*wire.Line, error) {
	l := &wire.Line{Docket: t.ID.Docket, Ordinal: t.ID.Ordinal, Case: t.CaseID, Source: t.Source, Line: t.Line, Fault: t.Fault}
	if t.Trial == nil || t.Fault != "" {
		return l, nil
	}
	t.Trial.Result.Timings = nil
	t.Trial.Answered()
	if err := l.Put(t.Trial, form); err != nil {
		return nil, fmt.Errorf("trial %s: %w", t.ID, err)
	}
	return l, nil
}
