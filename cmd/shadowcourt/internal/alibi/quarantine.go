package alibi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/alibi/investigate"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/quarantine"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

const noQuarantine = "none"

// held are the tests in quarantine. A test there is asked like any other; an answer that is not yours tells of the entry and does not fail the build.
type held struct {
	flag string
	file *quarantine.File // nil for none
	now  *quarantine.File // with the change; nil for none
}

func (h *held) flags(f *pflag.FlagSet) {
	f.StringVar(&h.flag, "quarantine", "", "file of tests in quarantine, whose failures do not fail the build unless they are yours, or "+noQuarantine+
		"; it counts as of the base (default: "+quarantine.Path+" of the repository, if it is there)")
}

// open reads the file as the base has it: no change puts its own failures into quarantine. An entry that has expired is an error, unless the change
// renews or removes it.
func (h *held) open(ctx context.Context, stderr io.Writer, c *investigate.Change, clock time.Time) error {
	if h.flag == noQuarantine {
		return nil
	}
	today := quarantine.DayOf(clock)
	top := c.Repository.Top()
	name := cmp.Or(h.flag, filepath.Join(top, filepath.FromSlash(quarantine.Path)))
	shown := cmp.Or(h.flag, quarantine.Path)
	var err error
	h.now, err = load(name, shown, today)
	if absent := errors.Is(err, fs.ErrNotExist); err != nil && (!absent || h.flag != "") {
		return cli.InputError(fmt.Errorf("--quarantine: %w", err))
	}
	within := within(top, name)
	if within == "" { // it is of no commit
		h.file = h.now
	} else if h.file, err = ofBase(ctx, c, within, shown, today); err != nil {
		fmt.Fprintf(stderr, "warning: quarantine: no test is in quarantine: %s\n", sanitize.Line(err.Error()))
	}
	if h.now != nil {
		for i := range h.now.Tests {
			if e := &h.now.Tests[i]; h.file.Find(e.Test) == nil {
				fmt.Fprintf(stderr, "warning: %s:%d: %s: this change adds the entry, which counts when it is merged\n", sanitize.Line(shown), e.Line, sanitize.Line(e.Test))
			}
		}
	}
	return cli.InputError(h.overdue(today))
}

// overdue names entries that have expired.
func (h *held) overdue(today quarantine.Day) error {
	if h.file == nil {
		return nil
	}
	var faults []error
	for _, e := range h.file.Expired(today) {
		if now := h.now.Find(e.Test); now != nil && now.Expired(today) {
			faults = append(faults, fmt.Errorf("%w (--quarantine none leaves the file unread)", h.now.Overdue(now)))
		}
	}
	return errors.Join(faults...)
}

// load reads a file that messages call by another name.
func load(name, shown string, today quarantine.Day) (*quarantine.File, error) {
	f, err := quarantine.Load(name, today)
	if f != nil {
		f.Name = shown
	}
	return f, err
}

// within is the path of a file from the top folder of its repository; empty where it is outside.
func within(top, name string) string {
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		return ""
	}
	folder, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return ""
	}
	if target, err := filepath.EvalSymlinks(folder); err == nil { // a folder that the change removed is not there
		folder = target
	}
	path, err := filepath.Rel(top, filepath.Join(folder, filepath.Base(name)))
	if err != nil || path == ".." || strings.HasPrefix(path, ".."+string(filepath.Separator)) {
		return ""
	}
	return filepath.ToSlash(path)
}

// ofBase is the file of the base; nil where it has none.
func ofBase(ctx context.Context, c *investigate.Change, path, shown string, today quarantine.Day) (*quarantine.File, error) {
	data, err := c.Repository.FileAt(ctx, c.Base.Commit, path, quarantine.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no file, no entries
	}
	if err != nil {
		return nil, err
	}
	return quarantine.Parse(shown+" of the base", data, today)
}

// of is the entry of a test whose failure is not yours; nil for none, and for one that has expired.
func (h *held) of(a *alibi.Answer, clock time.Time) *answers.Quarantined {
	e := h.file.Find(a.ID)
	if e == nil || a.Verdict == alibi.IsYours || e.Expired(quarantine.DayOf(clock)) {
		return nil
	}
	return &answers.Quarantined{Reason: e.Reason, Owner: e.Owner, Expires: string(e.Expires)}
}
