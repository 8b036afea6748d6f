package try

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/client"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// remoteRun shows the results of dockets that a service tries.
type remoteRun struct {
	options  *tryOptions
	client   *client.Client
	stderr   io.Writer
	progress *cli.Progress
	match    *failOn
	out      *render.Output
	files    *disk.Set
	form     wire.Form

	dockets   []*client.Docket
	sum       run.Summary
	matched   bool
	other     bool // an entry that could not be tried may be of another format
	proposals proposals
	explained explained
}

// runRemote carries out `try --server`.
func (o *tryOptions) runRemote(ctx context.Context, s cli.Streams, args []string, match *failOn) error {
	r := &remoteRun{options: o, stderr: s.Err, progress: cli.NewProgress(s.Err), match: match, form: o.form(match)}
	match.begin()
	c, err := open.Client(s.Err, o.remote.server, client.Config{Program: o.program, Again: r.again})
	if err != nil {
		return err
	}
	r.client = c
	if len(o.remote.dockets) == 0 {
		reports, err := openReports(ctx, s.In, args)
		if err != nil {
			return cli.OrInterrupted(ctx, cli.InputError(err))
		}
		defer closeReports(reports)
		err = r.submit(ctx, s, reports)
		r.progress.Clear()
		if err != nil {
			return r.failed(ctx, err)
		}
	}
	for _, id := range o.remote.dockets {
		d, err := c.Docket(ctx, id)
		if err != nil {
			return r.failed(ctx, err)
		}
		r.dockets = append(r.dockets, d)
	}
	for _, d := range r.dockets {
		fmt.Fprintf(s.Err, "docket %d: %s\n", d.ID, sanitize.Line(fmt.Sprintf("%s/dockets/%d", c.Server(), d.ID)))
	}
	config := &run.Config{}
	if err := o.outputs(s, config); err != nil {
		return cli.FileError(err)
	}
	if len(r.dockets) == 1 {
		o.remote.name = r.dockets[0].Name
	}
	r.out, r.files = render.NewOutput(nil, config.Writers...), config.Files
	return r.follow(ctx)
}

// form is how much of the trials the outputs need.
func (o *tryOptions) form(match *failOn) wire.Form {
	switch {
	case len(o.reports) > 0 || o.cases != "" || o.explain != "":
		return wire.Whole
	case o.format == "table" || len(match.labels) > 0:
		return wire.Summary
	}
	return wire.Results
}

// again says on a terminal why a request is sent again.
func (r *remoteRun) again(err error, after time.Duration) {
	first, _, _ := strings.Cut(err.Error(), "\n")
	r.progress.Say(fmt.Sprintf("%s; again in %s", sanitize.Line(first), after.Round(time.Second/2)))
}

// follow writes the trials of all dockets as they come, and completes the outputs.
func (r *remoteRun) follow(ctx context.Context) error {
	for i := range r.dockets {
		err := r.docket(ctx, i)
		if ctx.Err() != nil {
			break // what is written so far has no gaps
		}
		if err != nil {
			r.progress.Clear()
			r.files.Discard()
			return r.failed(ctx, err)
		}
	}
	r.progress.Clear()
	if t := r.explained.short(); t != nil && ctx.Err() == nil {
		if err := r.write(t); err != nil {
			r.files.Discard()
			return r.failed(ctx, err)
		}
	}
	if err := errors.Join(r.out.Close(), r.place(ctx.Err() != nil)); err != nil {
		return err
	}
	return r.end(ctx)
}

// place puts the files in their places, or leaves those as they were.
func (r *remoteRun) place(interrupted bool) error {
	if r.sum.Tried == 0 && (interrupted || r.sum.Faults+r.sum.Unread > 0) {
		r.files.Discard()
		return nil
	}
	return r.files.Commit()
}

// docket writes the trials of one docket.
func (r *remoteRun) docket(ctx context.Context, i int) error {
	d := r.dockets[i]
	defer r.showProgress(ctx, d.ID)()
	for line, err := range r.client.Trials(ctx, d.ID, r.form) {
		if err != nil {
			return err
		}
		t, err := line.Trial()
		if err != nil {
			return fmt.Errorf("%s: docket %d, entry %d: %w", r.client.Server(), d.ID, line.Ordinal, err)
		}
		if t == nil {
			r.fault(d, line)
			continue
		}
		if !r.explained.wants(r.options.explain, t) {
			continue
		}
		if err := r.write(t); err != nil {
			return err
		}
	}
	now, err := r.client.Docket(ctx, d.ID)
	if err == nil {
		r.dockets[i] = now
	}
	return err
}

// write writes a trial.
func (r *remoteRun) write(t *trial.Trial) error {
	r.note(t)
	return r.out.Write(t)
}

// progressTime is how often the state of a docket is shown.
const progressTime = 2 * time.Second

// showProgress shows on a terminal how far a docket is, until stop is called.
func (r *remoteRun) showProgress(ctx context.Context, id int64) (stop func()) {
	if !r.progress.Live() {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(progressTime)
		defer tick.Stop()
		for {
			if d, err := r.client.Docket(ctx, id); err == nil && ctx.Err() == nil {
				r.progress.Say(fmt.Sprintf("docket %d is %s, %d of %d tried", id, sanitize.Line(string(d.State)), d.Tried, d.Cases))
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// note takes note of a trial.
func (r *remoteRun) note(t *trial.Trial) {
	r.sum.Tried++
	if t.Result.Final.Cause == trial.CauseLight {
		r.sum.Unanswered++
	}
	r.matched = r.match.matches(&t.Result) || r.matched
	if r.form != wire.Results {
		r.match.see(t.Case.Labels)
	}
	r.proposals.note(r.options, t)
	r.progress.Clear() // results may go to the same terminal
}

// fault reports an entry that could not be tried. The fault of an entry that could not be read names its place, unless the rest of the
// docket could not be read.
func (r *remoteRun) fault(d *client.Docket, l *wire.Line) {
	r.progress.Clear()
	place := ""
	switch {
	case l.Case != "":
		place = fmt.Sprintf("%s:%d: ", sanitize.Line(l.Source), l.Line)
		r.sum.Faults++
	case d.Name == "" || strings.HasPrefix(l.Fault, sanitize.Line(d.Name)+":"):
		r.sum.Faults++
	default:
		r.sum.Unread++
	}
	if r.sum.Tried == 0 && r.sum.Unread == 0 && r.sum.Faults > maxFaults {
		return
	}
	fmt.Fprintln(r.stderr, place+sanitize.Block(l.Fault))
}

// failed says how to see the results of dockets that were submitted all the same.
func (r *remoteRun) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = cli.ErrInterrupted
		if len(r.options.remote.dockets) == 0 {
			err = fmt.Errorf("%w while submitting; the same command continues, and submits no docket twice", err)
		}
	}
	if rejected, ok := errors.AsType[*client.Error](err); ok && rejected.Rejected() {
		err = cli.InputError(err)
	}
	if len(r.dockets) == 0 {
		return err
	}
	text := fmt.Errorf("%w\n%s", err, r.goesOn())
	if exit, ok := errors.AsType[*cli.ExitError](err); ok {
		return &cli.ExitError{Code: exit.Code, Err: text}
	}
	return text
}

// goesOn says how to see the results of the dockets later.
func (r *remoteRun) goesOn() string {
	command := "shadowcourt try --server " + r.client.Server()
	ids := make([]string, len(r.dockets))
	for i, d := range r.dockets {
		ids[i] = strconv.FormatInt(d.ID, 10)
	}
	return fmt.Sprintf("the service continues; `%s,docket=%s` shows the results", command, strings.Join(ids, ",docket="))
}

// end says what concerns all cases, and gives the exit code.
func (r *remoteRun) end(ctx context.Context) error {
	r.match.warn(ctx, r.stderr)
	r.proposals.say(r.options, r.stderr, nil)
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted; %s tried and written; %s", cli.Count(r.sum.Tried, "case was", "cases were"), r.goesOn())
	}
	var ended []error
	for _, d := range r.dockets {
		switch {
		case d.State != client.Done:
			ended = append(ended, fmt.Errorf("%s: docket %d is %s; %d of its %s", r.client.Server(), d.ID, sanitize.Line(string(d.State)), d.Tried,
				cli.Count(d.Cases, "case was tried", "cases were tried")))
		case d.Cases == 0 && (d.Format == run.GoTest || run.OfRunners(d.Format)):
			fmt.Fprintf(r.stderr, "no failure in %s\n", sanitize.Line(d.Name))
		}
	}
	if len(ended) > 0 {
		return errors.Join(ended...)
	}
	if err := untried(&r.sum, r.other); err != nil {
		return err
	}
	switch {
	case r.options.explain != "" && r.sum.Tried == 0:
		return r.options.notFound(r.explained.passedOver)
	case r.options.explain != "":
		return matched(r.matched)
	}
	return answered(&r.sum, r.matched)
}
