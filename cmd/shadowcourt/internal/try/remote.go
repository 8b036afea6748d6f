package try

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

type remoteOptions struct {
	server               string
	ids                  []string // of dockets, as they were given
	dockets              []int64
	key                  string
	repository, revision string
	name                 string        // of the docket, where it is one
	results              *open.Results // what is sent; nil where the service tries the dockets
}

// Flags beside --server that say how a docket is submitted, and what becomes of results. All others are for trials on this machine.
var (
	submitting = []string{"from", "remember"}
	showing    = []string{"server", "format", "output", "report", "cases", "fail-on", "help"}
)

// maxField is the most characters of what describes a docket.
const maxField = 200

// pushes says whether the results are found on this machine, and sent to the service.
func (o *tryOptions) pushes() bool { return o.remote.server != "" && o.ExperimentsHere() }

// checkRemote rejects flags that need --server; with it, all that contradict it, at once.
func (o *tryOptions) checkRemote(args []string) error {
	flags := o.Changed()
	switch {
	case !slices.Contains(flags, "server"):
		return nil
	case o.remote.server == "":
		return errors.New("--server: name the URL before its options")
	}
	_, err := wire.Origin(o.remote.server)
	faults := []error{cli.Fault(err != nil, "--server: %w", err)}
	var local, submits []string
	for _, name := range flags {
		switch {
		case name == "explain" && !o.pushes():
			faults = append(faults, errors.New("--server: the service has a page for each trial; leave out --explain"))
		case name == "source" && !o.pushes():
			faults = append(faults, errors.New("--server: the service reads no source of yours; leave out --source, or add --experiments to try the cases here and send the results"))
		case slices.Contains(submitting, name):
			submits = append(submits, "--"+name)
		case !slices.Contains(showing, name) && !o.pushes():
			local = append(local, "--"+name)
		}
	}
	faults = append(faults,
		cli.Fault(len(local) > 0, "--server: the service decides how cases are tried, and keeps their text; leave out %s", strings.Join(local, ", ")),
		cli.Fault(o.pushes() && len(o.remote.ids) > 0, "--server docket=ID shows dockets that were submitted; leave out --experiments"))
	for _, text := range o.remote.ids {
		id, err := strconv.ParseInt(text, 10, 64)
		wrong := err != nil || id < 1 || slices.Contains(o.remote.dockets, id)
		faults = append(faults, cli.Fault(wrong, "--server docket=%s: use the ID of a docket, each once", text))
		o.remote.dockets = append(o.remote.dockets, id)
	}
	for _, option := range []struct{ name, value string }{{"key", o.remote.key}, {"repository", o.remote.repository}, {"revision", o.remote.revision}} {
		faults = append(faults, open.CheckServerText(option.name, option.value))
		if option.value != "" {
			submits = append(submits, option.name+"="+option.value)
		}
	}
	if len(args) > 0 {
		submits = append(submits, "the names of files")
	}
	stdin := slices.DeleteFunc(slices.Clone(args), func(name string) bool { return name != "-" })
	return errors.Join(append(faults,
		cli.Fault(len(o.remote.dockets) > 0 && len(submits) > 0, "--server docket=ID shows dockets that were submitted; leave out %s", strings.Join(submits, ", ")),
		cli.Fault(len(stdin) > 1, "the standard input can be submitted once: use one -"))...)
}

type remoteRun struct {
	options  *tryOptions
	client   *wire.Client
	stderr   io.Writer
	progress *cli.Progress
	match    *failOn
	out      *render.Output
	files    *disk.Set
	form     wire.Form

	dockets   []*wire.Docket
	sum       run.Summary
	matched   bool
	other     bool // an entry that could not be tried may be of another format
	proposals proposals
}

func (o *tryOptions) runRemote(ctx context.Context, s cli.Streams, args []string, match *failOn) error {
	r := &remoteRun{options: o, stderr: s.Err, progress: cli.NewProgress(s.Err), match: match, form: wire.Results}
	switch { // how much of the trials the outputs need
	case len(o.reports) > 0 || o.cases != "":
		r.form = wire.Whole
	case o.format == "table" || len(match.labels) > 0:
		r.form = wire.Summary
	}
	match.begin()
	c, err := open.Client(s.Err, o.remote.server, wire.ClientConfig{Program: o.program, Again: func(err error, after time.Duration) {
		first, _, _ := strings.Cut(err.Error(), "\n")
		r.progress.Say(fmt.Sprintf("%s; again in %s", sanitize.Line(first), after.Round(time.Second/2)))
	}})
	if err != nil {
		return err
	}
	r.client = c
	if len(o.remote.dockets) == 0 {
		reports, err := readReports(ctx, s.In, args)
		if err != nil {
			return cli.OrInterrupted(ctx, cli.InputError(err))
		}
		err = r.submit(ctx, reports)
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

// follow writes the trials of all dockets as they come, and completes the outputs.
func (r *remoteRun) follow(ctx context.Context) error {
	for _, d := range r.dockets {
		err := r.docket(ctx, d)
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
	err := r.out.Close()
	if r.sum.Tried == 0 && (ctx.Err() != nil || r.sum.Faults+r.sum.Unread > 0) {
		r.files.Discard() // they stay as they were
	} else {
		err = errors.Join(err, r.files.Commit())
	}
	if err != nil {
		return err
	}
	return r.end(ctx)
}

func (r *remoteRun) docket(ctx context.Context, d *wire.Docket) error {
	r.progress.Say(fmt.Sprintf("docket %d is tried", d.ID))
	for line, err := range r.client.Trials(ctx, d, r.form) {
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
		r.note(t)
		if err := r.out.Write(t); err != nil {
			return err
		}
		r.progress.Tried(r.sum.Tried, r.sum.Faults)
	}
	return nil
}

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
func (r *remoteRun) fault(d *wire.Docket, l *wire.Line) {
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
	if err = open.Rejection(err); len(r.dockets) == 0 {
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
		case d.State != wire.Done:
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
	return answered(&r.sum, r.matched)
}

type upload struct {
	name string // for people
	text []byte
}

// maxReports is the most bytes of all reports, which are kept in memory; a service takes 256 MiB of one unless it says otherwise.
const maxReports = 1 << 30

// readReports reads every report; all that can't be read are named at once. Without names it is the standard input.
func readReports(ctx context.Context, stdin io.Reader, names []string) ([]upload, error) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	list := make([]upload, len(names))
	var faults []error
	room := maxReports
	for i, name := range names {
		var err error
		if list[i], err = readReport(ctx, stdin, name, room); err != nil {
			faults = append(faults, err)
		}
		room -= len(list[i].text)
	}
	return list, errors.Join(faults...)
}

func readReport(ctx context.Context, stdin io.Reader, name string, room int) (upload, error) {
	u := upload{name: "stdin"}
	if name != "-" {
		f, err := run.OpenFile(ctx, name)
		if err != nil {
			return u, err
		}
		defer func() { _ = f.Close() }()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return u, fmt.Errorf("%s is a folder, not a docket", name)
		}
		stdin, u.name = f, filepath.Base(name)
	}
	text, err := io.ReadAll(io.LimitReader(run.NewReader(ctx, stdin), int64(room)+1))
	if err == nil && len(text) > room {
		err = fmt.Errorf("the reports have more than %d bytes together: submit fewer at a time", maxReports)
	}
	if err != nil {
		return u, fmt.Errorf("read %s: %w", u.name, err)
	}
	u.text = text
	return u, nil
}

// key is made of all that makes a docket: its text, how it is submitted, and the modules that will try it. So the same command continues
// with the docket that an earlier one submitted, until the modules are others.
func (u *upload) key(s *wire.Submission, generation int64) (string, error) {
	body := sha256.Sum256(u.text)
	text, err := json.Marshal([]any{s, generation, hex.EncodeToString(body[:])})
	sum := sha256.Sum256(text)
	return "try-" + hex.EncodeToString(sum[:]), err
}

// submit submits the reports, a docket each.
func (r *remoteRun) submit(ctx context.Context, reports []upload) error {
	o := r.options
	me, err := r.client.Me(ctx)
	if err != nil {
		return err
	}
	needed := []string{"submit"}
	if o.Remember {
		needed = append(needed, "review")
	}
	for _, scope := range needed {
		if !me.Can(scope) {
			return cli.InputError(fmt.Errorf("%s: the token of %s lacks the scope %s", r.client.Server(), me.Name, scope))
		}
	}
	var generation int64
	if o.remote.key == "" {
		if generation, err = r.client.CurrentGeneration(ctx); err != nil {
			return err
		}
	}
	var rejected []*wire.Error
	for i := range reports {
		report := &reports[i]
		r.progress.Say("submitting " + report.name)
		s := &wire.Submission{
			Name: report.name, Repository: o.remote.repository, Revision: o.remote.revision, NoGroups: o.noGroups, Truth: o.truthFromReport, Remember: o.Remember,
		}
		if o.from != run.Auto {
			s.Format = o.from
		}
		if s.Key = o.remote.key; s.Key == "" {
			if s.Key, err = report.key(s, generation); err != nil {
				return err
			}
		} else if i > 0 {
			s.Key += "-" + strconv.Itoa(i+1)
		}
		d, err := r.submitOne(ctx, s, report)
		if bad, ok := errors.AsType[*wire.Error](err); ok && bad.Problem.Code == wire.BadDocket {
			rejected = append(rejected, bad)
			continue
		}
		if err != nil {
			return err
		}
		r.dockets = append(r.dockets, d)
	}
	return r.untried(rejected)
}

// untried reports dockets of which the service can't try a case, as a run on this machine does: their entries are faults, and the others
// are tried. Files that are no dockets are an error if there is no other.
func (r *remoteRun) untried(rejected []*wire.Error) error {
	var none []error
	for _, e := range rejected {
		if e.Problem.Entries == 0 {
			none = append(none, errors.New(sanitize.Block(e.Problem.Detail)))
		}
	}
	if len(none) > 0 && len(none) == len(rejected) && len(r.dockets) == 0 {
		return cli.InputError(errors.Join(none...))
	}
	for _, e := range rejected {
		r.sum.Faults += max(e.Problem.Entries, 1)
		lines := e.Faults()
		if e.Problem.Entries == 0 {
			lines = []string{e.Problem.Detail}
		}
		for _, line := range lines {
			fmt.Fprintln(r.stderr, sanitize.Block(line))
		}
		for _, f := range e.Problem.Errors {
			_, path, _ := strings.Cut(f.Path, ": ")
			r.other = r.other || docket.OtherFormat(abi.Code(f.Code), path)
		}
	}
	return nil
}

// submitOne submits a report. With a key of our own, a docket that was cancelled or failed is submitted again.
func (r *remoteRun) submitOne(ctx context.Context, s *wire.Submission, report *upload) (*wire.Docket, error) {
	for {
		d, known, err := r.client.Submit(ctx, s, report.text)
		r.progress.Clear()
		if err != nil {
			if rejected, ok := errors.AsType[*wire.Error](err); ok {
				rejected.Docket = report.name
			}
			return nil, err
		}
		if known && r.options.remote.key == "" && (d.State == wire.Cancelled || d.State == wire.Failed) {
			s.Key += "-" + strconv.FormatInt(d.ID, 10)
			if len(s.Key) <= maxField {
				continue
			}
		}
		if known {
			fmt.Fprintf(r.stderr, "note: docket %d was submitted before with this report; --server URL,key=TEXT with another key submits it again\n", d.ID)
		}
		return d, nil
	}
}
