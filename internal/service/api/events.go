package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Progress is how far a docket is.
type Progress struct {
	State  string `json:"state" enum:"queued,running,done,failed,cancelled" doc:"State of the docket"`
	Cases  int    `json:"cases" minimum:"0" doc:"Entries of the docket"`
	Tried  int    `json:"tried" minimum:"0" doc:"Entries with a result"`
	Faults int    `json:"faults" minimum:"0" doc:"Entries that could not be read or tried"`
}

type eventsInput struct {
	DocketPath
	Last int `header:"Last-Event-ID" minimum:"0" maximum:"1000000" doc:"The id of the last event that was received"`
}

// events follows a docket. Trials come in the order of the docket, so that the place of the last one says where to continue; progress
// counts those, too, that were tried out of order.
func (s *server) events(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
	// Browsers connect again by themselves; proxies must not hold events back.
	header := map[string]string{"X-Accel-Buffering": "no"}
	return s.stream(ctx, in.ID, "text/event-stream", header, func(ctx context.Context, w io.Writer) error {
		follow := &FollowInput{DocketPath: in.DocketPath, From: in.Last + 1, Wait: true}
		e := &eventWriter{w: w}
		if err := e.retry(); err != nil {
			return err
		}
		if err := s.follow(ctx, follow, s.listed, e.progress, func(t *store.Tried) error { return e.send("trial", t.Ordinal, t.Entry) }); err != nil {
			return err
		}
		d, err := s.Store.Docket(ctx, in.ID)
		if err != nil {
			return err
		}
		if err := e.progress(&d); err != nil {
			return err
		}
		return e.send("done", d.Cases, d)
	})
}

// listed reads the entries of a docket without their trials.
func (s *server) listed(ctx context.Context, id int64, from int) iter.Seq2[*store.Tried, error] {
	const atOnce = 500
	return func(yield func(*store.Tried, error) bool) {
		for {
			list, err := s.Store.Entries(ctx, store.EntryFilter{Docket: id, After: store.TrialID{Docket: id, Ordinal: from - 1}, Limit: atOnce})
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range list {
				if !yield(&store.Tried{Entry: list[i]}, nil) {
					return
				}
			}
			if len(list) < atOnce {
				return
			}
			from = list[len(list)-1].ID.Ordinal + 1
		}
	}
}

// eventWriter writes server-sent events, each with one write.
type eventWriter struct {
	w    io.Writer
	last Progress
}

// retryTime is how long a browser waits before it connects again, in milliseconds.
const retryTime = 1000

func (e *eventWriter) retry() error {
	_, err := fmt.Fprintf(e.w, "retry: %d\n\n", retryTime)
	return err
}

// progress tells how far a docket is; where that is known, a comment keeps the connection open.
func (e *eventWriter) progress(d *store.Docket) error {
	now := Progress{State: string(d.State), Cases: d.Cases, Tried: d.Tried, Faults: d.Faults}
	if now == e.last {
		_, err := io.WriteString(e.w, ":\n\n")
		return err
	}
	e.last = now
	return e.send("progress", 0, now)
}

// send sends an event; without an id the last one stands.
func (e *eventWriter) send(event string, id int, data any) error {
	var b bytes.Buffer
	if id > 0 {
		fmt.Fprintf(&b, "id: %d\n", id)
	}
	fmt.Fprintf(&b, "event: %s\ndata: ", event)
	if err := jsonFormat.Marshal(&b, data); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err := e.w.Write(b.Bytes())
	return err
}
