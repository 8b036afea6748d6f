package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

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

// ReportPolicy is the Content-Security-Policy of reports: they have their styles in them, and no scripts.
const ReportPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

func (s *server) report(ctx context.Context, in *DocketPath) (*huma.StreamResponse, error) {
	header := map[string]string{"Content-Security-Policy": ReportPolicy}
	return s.stream(ctx, in.ID, "text/html; charset=utf-8", header, func(ctx context.Context, w io.Writer) error {
		b := batched(w)
		page := render.NewHTML(b, render.PageOptions{})
		err := s.follow(ctx, &FollowInput{DocketPath: *in, From: 1}, s.Store.Trials, nil, func(t *store.Tried) error {
			if t.Trial == nil || t.Fault != "" {
				return nil
			}
			t.Trial.Result.Timings = nil
			t.Trial.Answered()
			return page.Write(t.Trial)
		})
		if err == nil {
			err = page.Close()
		}
		return errors.Join(err, b.Flush())
	})
}
