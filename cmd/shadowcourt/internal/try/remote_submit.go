package try

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/client"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// upload is a file that is submitted. It is read several times: for its digest, and each time that it is sent.
type upload struct {
	name    string // for people
	file    *os.File
	size    int64
	spooled bool // a copy of what can be read once
}

// openReports opens every report; all that can't be opened are named at once. Without names it is the standard input.
func openReports(ctx context.Context, stdin io.Reader, names []string) ([]*upload, error) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	var list []*upload
	var faults []error
	for _, name := range names {
		r, err := openReport(ctx, stdin, name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		list = append(list, r)
	}
	if len(faults) > 0 {
		closeReports(list)
		return nil, errors.Join(faults...)
	}
	return list, nil
}

func closeReports(list []*upload) {
	for _, r := range list {
		r.close()
	}
}

func openReport(ctx context.Context, stdin io.Reader, name string) (*upload, error) {
	if name == "-" {
		return spool(ctx, "stdin", stdin)
	}
	f, err := run.OpenFile(ctx, name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder, not a docket", name)
	case info.Mode().IsRegular():
		return &upload{name: filepath.Base(name), file: f, size: info.Size()}, nil
	default:
		r, err := spool(ctx, filepath.Base(name), f)
		_ = f.Close()
		return r, err
	}
	_ = f.Close()
	return nil, err
}

// spool copies what can be read once, such as a pipe, so that it can be sent again.
func spool(ctx context.Context, name string, in io.Reader) (*upload, error) {
	f, err := os.CreateTemp("", "shadowcourt-*.docket")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // where the system can do that, it is gone whatever becomes of the process
	r := &upload{name: name, file: f, spooled: true}
	if r.size, err = io.Copy(f, run.NewReader(ctx, in)); err != nil {
		r.close()
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return r, nil
}

func (r *upload) close() {
	_ = r.file.Close()
	if r.spooled {
		_ = os.Remove(r.file.Name())
	}
}

// open gives the report from its beginning. What is added to it meanwhile is not part of it.
func (r *upload) open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(r.file, 0, r.size)), nil
}

// key is made of all that makes a docket: its text, how it is submitted, and the modules that will try it. So the same command continues
// with the docket that an earlier one submitted, until the modules are others.
func (r *upload) key(s *client.Submission, generation int64) (string, error) {
	body := sha256.New()
	if n, err := io.Copy(body, io.NewSectionReader(r.file, 0, r.size)); err != nil || n != r.size {
		return "", errors.Join(fmt.Errorf("read %s: it changed while it was read", r.name), err)
	}
	text, err := json.Marshal([]any{s, generation, hex.EncodeToString(body.Sum(nil))})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return "try-" + hex.EncodeToString(sum[:]), nil
}

// submit submits the reports, a docket each.
func (r *remoteRun) submit(ctx context.Context, streams cli.Streams, reports []*upload) error {
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
	var rejected []*client.Error
	for i, report := range reports {
		r.progress.Say("submitting " + report.name)
		s := &client.Submission{
			Name: report.name, Repository: o.remote.repository, Revision: o.remote.revision, NoGroups: o.noGroups, Truth: o.truthFromReport, Remember: o.Remember,
		}
		if o.from != run.Auto {
			s.Format = o.from
		}
		if o.Source() != "" {
			answered, err := r.answer(ctx, streams, report, s)
			if err != nil {
				return err
			}
			if answered == nil {
				continue
			}
			defer answered.close()
			report = answered
		}
		if s.Key = o.remote.key; s.Key == "" {
			if s.Key, err = report.key(s, generation); err != nil {
				return err
			}
		} else if i > 0 {
			s.Key += "-" + strconv.Itoa(i+1)
		}
		d, err := r.submitOne(ctx, s, report)
		if bad, ok := errors.AsType[*client.Error](err); ok && bad.Problem.Code == wire.BadDocket {
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
func (r *remoteRun) untried(rejected []*client.Error) error {
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
func (r *remoteRun) submitOne(ctx context.Context, s *client.Submission, report *upload) (*client.Docket, error) {
	for {
		d, known, err := r.client.Submit(ctx, s, report.open)
		r.progress.Clear()
		if err != nil {
			if rejected, ok := errors.AsType[*client.Error](err); ok {
				rejected.Docket = report.name
			}
			return nil, err
		}
		if known && r.options.remote.key == "" && (d.State == client.Cancelled || d.State == client.Failed) {
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
