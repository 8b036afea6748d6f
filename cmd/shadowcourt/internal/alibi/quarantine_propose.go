package alibi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/quarantine"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// proposal are the flags of propose.
type proposal struct {
	fileFlag
	write      bool
	days       int
	confidence float64
	owner      string
	proof      string
}

func newPropose(s cli.Streams) *cobra.Command {
	o := &proposal{}
	cmd := &cobra.Command{
		Use:   "propose [ANSWERS.json...]",
		Short: "Propose entries for proven flakes, and removals, from answers of alibi",
		Long: `Propose changes of the quarantine file from documents of "alibi --report ANSWERS.json". Without
--write the proposal is printed, and nothing changes.

Added are tests that are flaky at --confidence and that passed and failed in one way on the base.
Never added is a test that a change made flaky or broke, one that fails on the base each time, one
that is open, and one without an owner (CODEOWNERS, else --owner).

Removed are entries that have expired, and those whose failures stopped: with n failures within a
span and a silence since, (span/(span+silence))^(n-1) is below 1 %, and no silence was as long before
(the rule of Go's watchflakes). The time of a failure is that of its document. A document
counts once, however often it is given; one that is older than an entry may hold does not count.`,
		Example: `  shadowcourt quarantine propose answers.json --write`,
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args) },
	}
	o.flag(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.write, "write", false, "change the file")
	f.IntVar(&o.days, "days", quarantine.DefaultDays, "how many days a new entry holds")
	f.Float64Var(&o.confidence, "confidence", quarantine.DefaultConfidence, "how sure it has to be that a test is flaky")
	f.StringVar(&o.owner, "owner", "", "owner of tests that CODEOWNERS gives none")
	f.StringVar(&o.proof, "proof", "", "link or path of a signed proof that new entries name (default: the page of the CI run, or else the document)")
	return cmd
}

func (o *proposal) check() error {
	var faults []error
	if o.days < 1 {
		faults = append(faults, errors.New("--days: use 1 or more"))
	}
	if !(o.confidence > 0 && o.confidence <= 1) {
		faults = append(faults, fmt.Errorf("--confidence %v: use a probability above 0", o.confidence))
	}
	return errors.Join(faults...)
}

func (o *proposal) run(ctx context.Context, s cli.Streams, names []string) error {
	if err := o.check(); err != nil {
		return cli.InputError(err)
	}
	now := time.Now()
	f, err := o.read(ctx, now)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = quarantine.New(o.file), nil
	}
	if err != nil {
		return err
	}
	if o.days > f.MaxDays {
		return cli.InputError(fmt.Errorf("--days %d: %s allows %d: set max_days in it", o.days, o.file, f.MaxDays))
	}
	documents, err := readDocuments(names, now)
	if err != nil {
		return cli.InputError(err)
	}
	options := quarantine.Options{Now: now, Days: o.days, Confidence: o.confidence, Owner: o.owner, Proof: o.proof}
	if o.top != "" {
		found, err := answers.FindOwners(o.top)
		if err != nil {
			fmt.Fprintf(s.Err, "warning: CODEOWNERS: %s\n", sanitize.Line(err.Error()))
		}
		options.Owners = found.Of
	}
	changes, notes, err := quarantine.Propose(f, documents, options)
	if err != nil {
		return err
	}
	text, err := f.Bytes()
	if err == nil {
		_, err = quarantine.Parse(o.file, text, quarantine.DayOf(now))
	}
	if err != nil {
		return fmt.Errorf("the proposal is no valid file: %w", err)
	}
	for _, note := range notes {
		fmt.Fprintln(s.Err, "note: "+sanitize.Line(note))
	}
	counts := map[quarantine.Kind]int{}
	for _, c := range changes {
		counts[c.Kind]++
		show(s.Out, &c)
	}
	added, removed, updated := counts[quarantine.Add], counts[quarantine.Remove], counts[quarantine.Count]
	switch {
	case len(changes) == 0:
		fmt.Fprintf(s.Err, "%s: nothing to change: no further test is proven flaky, and no entry expired or stopped\n", sanitize.Line(o.file))
		return nil
	case !o.write:
		fmt.Fprintf(s.Err, "%s: not changed; with --write, %s %s added, %d removed and %d updated\n", sanitize.Line(o.file),
			cli.Count(added, "entry", "entries"), cli.Plural(added, "is", "are"), removed, updated)
		return nil
	}
	if err := o.replace(text); err != nil {
		return cli.FileError(err)
	}
	fmt.Fprintf(s.Err, "%s: %s added, %d removed, %d updated\n", sanitize.Line(o.file), cli.Count(added, "entry", "entries"), removed, updated)
	return nil
}

func (o *proposal) replace(text []byte) error {
	if err := disk.MakeFolder(filepath.Dir(o.file), 0o755); err != nil {
		return err
	}
	return disk.Replace(o.file, text)
}

// show prints a change as differences are printed.
func show(w io.Writer, c *quarantine.Change) {
	sign := map[quarantine.Kind]string{quarantine.Add: "+", quarantine.Remove: "-", quarantine.Count: "~"}[c.Kind]
	fmt.Fprintf(w, "%s %s: %s\n", sign, sanitize.Line(c.Test), sanitize.Line(c.Why))
	for line := range strings.Lines(c.Entry) {
		fmt.Fprintf(w, "%s   %s\n", sign, sanitize.Line(strings.TrimSuffix(line, "\n")))
	}
}

// readDocuments reads all documents, and names all that can't be read. None is from the future.
func readDocuments(names []string, now time.Time) (list []quarantine.Document, err error) {
	var faults []error
	for _, name := range names {
		d, err := readDocument(name)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
			continue
		}
		if d.At.After(now) {
			d.At = now
		}
		list = append(list, d)
	}
	return list, errors.Join(faults...)
}

func readDocument(name string) (quarantine.Document, error) {
	f, err := os.Open(name)
	if err != nil {
		if wrong := (*fs.PathError)(nil); errors.As(err, &wrong) {
			err = wrong.Err
		}
		return quarantine.Document{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return quarantine.Document{}, err
	}
	if !info.Mode().IsRegular() {
		return quarantine.Document{}, errors.New("not a regular file: the time of the file is that of the failures")
	}
	var data bytes.Buffer
	d, err := answers.Read(io.TeeReader(f, &data))
	if err != nil {
		return quarantine.Document{}, err
	}
	at := info.ModTime()
	if !d.Time.IsZero() && d.Time.Before(at) { // a file may be a copy
		at = d.Time
	}
	return quarantine.Document{Document: d, Name: name, Digest: quarantine.DigestOf(data.Bytes()), At: at}, nil
}
