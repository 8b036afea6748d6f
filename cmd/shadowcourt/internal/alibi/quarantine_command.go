package alibi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/quarantine"
	"github.com/shadowcourt/shadowcourt/repo"
)

// NewQuarantine is the command quarantine.
func NewQuarantine(s cli.Streams) *cobra.Command {
	cmd := cli.Parent("quarantine", "Keep proven flaky tests in a reviewed file, with owner and expiry, and have test runners obey it",
		newCheck(s), newList(s), newWrite(s), newPropose(s))
	cmd.Long = `Keep tests that are proven flaky in ` + quarantine.Path + `, reviewed as code is: each with a
reason, a proof, an owner and a day on which it expires. Tests in quarantine do not block: test
runners leave them out (write), and alibi tells of their failures without failing the build. A
test that a change made flaky or broke is never hidden.`
	return cmd
}

// fileFlag is where the file is.
type fileFlag struct {
	file string
	top  string // of the repository; empty where there is none
}

func (p *fileFlag) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.file, "file", "", "quarantine file (default: "+quarantine.Path+" of the repository)")
}

// find fills what the flag leaves open.
func (p *fileFlag) find(ctx context.Context) {
	if r, err := repo.Open(ctx, "."); err == nil {
		p.top = r.Top()
	}
	if p.file == "" {
		p.file = filepath.Join(p.top, filepath.FromSlash(quarantine.Path))
		if dir, err := os.Getwd(); err == nil {
			if short, err := filepath.Rel(dir, p.file); err == nil {
				p.file = short
			}
		}
	}
}

// read reads the file; where there is none, its error is fs.ErrNotExist.
func (p *fileFlag) read(ctx context.Context, now time.Time) (*quarantine.File, error) {
	p.find(ctx)
	f, err := quarantine.Load(p.file, quarantine.DayOf(now))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cli.InputError(err)
	}
	return f, err
}

// needed is read where a file that is named has to be there. A repository without the file has no entries.
func (p *fileFlag) needed(ctx context.Context, now time.Time) (*quarantine.File, error) {
	named := p.file != ""
	f, err := p.read(ctx, now)
	switch absent := errors.Is(err, fs.ErrNotExist); {
	case absent && named:
		return nil, cli.InputError(fmt.Errorf("%s: no such file: write one with shadowcourt quarantine propose ANSWERS.json --write", p.file))
	case absent:
		return quarantine.New(p.file), nil
	}
	return f, err
}

// overdue is the error of expired entries, nil for none.
func overdue(f *quarantine.File, now time.Time) error {
	var faults []error
	for _, e := range f.Expired(quarantine.DayOf(now)) {
		faults = append(faults, f.Overdue(e))
	}
	if len(faults) == 0 {
		return nil
	}
	return &cli.ExitError{Code: cli.ExitMatched, Err: errors.Join(faults...)}
}
