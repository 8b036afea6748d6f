package open

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/client"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// Results are what was found on this machine, for a docket service: they are collected while a run goes on, and sent at its end. It is a writer of trials. One goroutine uses it.
type Results struct {
	client *client.Client
	lines  bytes.Buffer
	trials int
}

// NewResults connects to a service, and makes sure that results may be sent to it, before anything runs.
func NewResults(ctx context.Context, stderr io.Writer, server, program string) (*Results, error) {
	c, err := Client(stderr, server, client.Config{Program: program})
	if err != nil {
		return nil, err
	}
	me, err := c.Me(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, cli.ErrInterrupted
	case err != nil:
		return nil, rejection(err)
	case !me.Can("submit"):
		return nil, cli.InputError(fmt.Errorf("%s: the token of %s lacks the scope submit", c.Server(), me.Name))
	}
	return &Results{client: c}, nil
}

// rejection is an error of the command line where the service rejects what was sent.
func rejection(err error) error {
	if rejected, ok := errors.AsType[*client.Error](err); ok && rejected.Rejected() {
		return cli.InputError(err)
	}
	return err
}

// Write adds a trial.
func (r *Results) Write(t *trial.Trial) error { return r.Add(t, nil, 0) }

// Close does nothing: see [Results.Send].
func (r *Results) Close() error { return nil }

// Add adds a trial with its answer of the alibi.
func (r *Results) Add(t *trial.Trial, a *alibi.Answer, took time.Duration) error {
	p, err := wire.NewPushed(t, a, took.Seconds())
	if err == nil {
		err = wire.WritePush(&r.lines, p)
	}
	if r.trials++; err == nil && (r.lines.Len() > wire.MaxPushBytes || r.trials > wire.MaxPushTrials) {
		err = fmt.Errorf("--server: the results are too many: %w", wire.ErrPushTooLarge)
	}
	return err
}

// Send sends the results behind their head, and record behind them, and says where they are. Without results it does nothing.
func (r *Results) Send(ctx context.Context, stderr io.Writer, s *client.Submission, head wire.Push, record []byte) error {
	if r.trials == 0 {
		return nil
	}
	head.Format, head.Trials = wire.PushFormat, r.trials
	var first bytes.Buffer
	if err := wire.WritePush(&first, &head); err != nil {
		return err
	}
	parts := [][]byte{first.Bytes(), r.lines.Bytes(), record}
	if s.Format = "results"; s.Key == "" {
		sum := sha256.New()
		for _, part := range parts {
			_, _ = sum.Write(part)
		}
		s.Key = "push-" + hex.EncodeToString(sum.Sum(nil))
	}
	d, _, err := r.client.Submit(ctx, s, func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(parts[0]), bytes.NewReader(parts[1]), bytes.NewReader(parts[2]))), nil
	})
	if err != nil {
		return fmt.Errorf("the results were not sent: %w", rejection(err))
	}
	fmt.Fprintf(stderr, "docket %d: %s\n", d.ID, sanitize.Line(fmt.Sprintf("%s/dockets/%d", r.client.Server(), d.ID)))
	return nil
}

// CheckServerText rejects what can't describe a docket.
func CheckServerText(option, text string) error {
	const most = 200
	for _, c := range text {
		if c < ' ' || c == 0x7f {
			return fmt.Errorf("--server %s: use no control characters", option)
		}
	}
	if len([]rune(text)) > most {
		return fmt.Errorf("--server %s: use at most %d characters", option, most)
	}
	return nil
}
