// Package records has the commands about signed records: key, verify and replay.
package records

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/replay"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

type verifyOptions struct {
	key, head, commit, format string
	open, list                bool
}

func newVerify(s cli.Streams) *cobra.Command {
	o := &verifyOptions{}
	cmd := &cobra.Command{
		Use:   "verify RECORD...",
		Short: "Verify the signatures of records of trials",
		Long: `Verify a record's signatures: every entry's signature, its place in the chain, its
bytes, and that the record is closed with the number of its trials. The first entry that
does not fit is named, with why; those before it hold. With --head it must also be the
record that had that head before, whatever was added since. Of several records each is
verified, whatever is wrong with others.

A proof of "shadowcourt alibi --proof" is such a record: its statements must be of its trials, and
with --commit of that commit, without changes that are not committed.

Exit codes: 0 the records hold and are complete; 1 one does not, or not all of it is there;
2 the command line is wrong.`,
		Example: `  shadowcourt verify trials.record --key court.key.pub
  shadowcourt verify trials.record --key court.key.pub --list
  shadowcourt verify trials.record --key court.key.pub --format json
  shadowcourt verify docket-17/*.record --key court.key.pub`,
		Args: cli.ArgsWithin(1, cli.AnyNumber, "a record"),
		RunE: func(cmd *cobra.Command, args []string) error {
			head, commit := cmd.Flags().Changed("head"), cmd.Flags().Changed("commit")
			err := cmp.Or(
				cli.OneOf("--format", o.format, "text", "json"),
				cli.Fault(head && !digestForm.MatchString(o.head), "--head %q is no head: verify gives it as sha256: and 64 hex digits", o.head),
				cli.Fault(commit && !commitForm.MatchString(o.commit), "--commit %q: use the whole hash of a commit, as git rev-parse HEAD gives it", o.commit),
				cli.Fault(head && len(args) > 1, "--head is that of one record: name one"),
			)
			if err != nil {
				return cli.InputError(err)
			}
			return o.run(cmd.Context(), s, args)
		},
	}
	open.KeyFlag(cmd, &o.key, "the key of the record, public or secret")
	f := cmd.Flags()
	f.BoolVar(&o.open, "open", false, "take a record that is not closed, or ends in the middle of an entry, as one of a run that was interrupted")
	f.StringVar(&o.head, "head", "", "a head that verify gave earlier, which the record must have or have had")
	f.StringVar(&o.commit, "commit", "", "whole hash of the commit that the proof must be of")
	f.BoolVar(&o.list, "list", false, "list the trials, and how they ended")
	f.StringVar(&o.format, "format", "text", "text or json")
	return cmd
}

func (o *verifyOptions) run(ctx context.Context, s cli.Streams, names []string) error {
	key, err := open.Key(o.key)
	if err != nil {
		return cli.InputError(err)
	}
	open.WarnOfKey(s.Err, o.key)
	var faults []error
	for _, name := range names {
		faults = append(faults, o.verify(ctx, s, key, name))
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(faults...)
}

func (o *verifyOptions) verify(ctx context.Context, s cli.Streams, key *record.Key, name string) error {
	f, err := run.OpenFile(ctx, name)
	if err != nil {
		return cli.OrInterrupted(ctx, cli.InputError(err))
	}
	defer func() { _ = f.Close() }()
	v := &verified{Record: name, Key: key.String(), wanted: record.Digest(o.head), commit: o.commit, list: o.list}
	report, err := record.Verify(ctx, run.NewReader(ctx, f), key, v.add)
	if err != nil {
		return cli.OrInterrupted(ctx, err)
	}
	err = v.judge(report, o.open)
	if v.Verified = err == nil; !v.Verified {
		why := err.Error()
		v.Why = &why
	}
	if o.format == "json" {
		return errors.Join(v.json(s.Out), err)
	}
	if err == nil || o.list {
		err = errors.Join(v.print(s.Out), err)
	}
	return err
}

func entries(r *record.Report) string {
	text := cli.Count(r.Entries, "entry", "entries") + " with " + cli.Count(r.Trials, "trial", "trials")
	if r.Statements > 0 {
		text += " and " + cli.Count(r.Statements, "statement", "statements")
	}
	if r.Audits > 0 {
		text += fmt.Sprintf(", %d of them audited", r.Audits)
	}
	return text
}

// recordFault says of a record that can't be read on what that means.
func recordFault(name string, err error) error {
	if _, ok := errors.AsType[*record.FaultError](err); ok {
		return fmt.Errorf("%s: %w; the entries before it are valid", name, err)
	}
	return err
}

// verified is what verify says of a record, as JSON or text.
type verified struct {
	Record string `json:"record"`
	// Verified: all checks passed.
	Verified bool `json:"verified"`
	// State is complete, "not closed" or cut.
	State   string        `json:"state"`
	Entries int           `json:"entries"`
	Trials  int           `json:"trials"`
	Audits  int           `json:"audits"`
	Key     string        `json:"key"`
	Head    record.Digest `json:"head"`
	// Since counts the entries behind the head that was asked for.
	Since *int           `json:"entries_since_head,omitempty"`
	Fault *verifiedFault `json:"fault"`
	// Why it does not hold.
	Why  *string       `json:"why"`
	List []listedTrial `json:"trial_list,omitempty"`
	// Signed are the modules of registries, each once.
	Signed []signedModule `json:"signed_modules,omitempty"`
	// Proof is what "shadowcourt alibi --proof" stated; absent in other records.
	Proof *verifiedProof `json:"proof,omitempty"`

	wanted record.Digest // head; empty for any
	commit string        // of the proof; empty for any
	proof  derivation
	found  int // entries up to it
	list   bool
	report *record.Report
}

// signedModule is a module that came with a signature, and why it was accepted.
type signedModule struct {
	Module string        `json:"module"`
	Digest record.Digest `json:"digest"`
	Signer string        `json:"signer"`
	Policy string        `json:"policy"`
}

const maxSigned = 1_000

type verifiedFault struct {
	Entry  int    `json:"entry"`
	Line   int    `json:"line"`
	Offset int64  `json:"offset"`
	Why    string `json:"why"`
}

type listedTrial struct {
	Entry  int           `json:"entry"`
	ID     string        `json:"id"`
	Case   record.Digest `json:"case"`
	Result record.Digest `json:"result_digest"`
	Final  *listedFinal  `json:"final"`
}

type listedFinal struct {
	Status         string  `json:"status"`
	Classification *string `json:"classification"`
	Confidence     float64 `json:"confidence"`
	Cause          *string `json:"cause"`
}

func (v *verified) add(e *record.Entry, head record.Digest) {
	v.proof.read(e, head)
	if v.wanted == head {
		v.found = e.Sequence + 1
	}
	if e.Generation != nil {
		for _, m := range e.Generation.Modules {
			one := signedModule{m.Name, m.Digest, m.Signer, m.Policy}
			if m.Signer != "" && len(v.Signed) < maxSigned && !slices.Contains(v.Signed, one) {
				v.Signed = append(v.Signed, one)
			}
		}
	}
	if !v.list || e.Trial == nil {
		return
	}
	t := listedTrial{Entry: e.Sequence, ID: e.Trial.ID, Case: e.Trial.Case, Result: e.Trial.ResultDigest}
	var result struct {
		Final *listedFinal `json:"final"`
	}
	if json.Unmarshal(e.Trial.Result, &result) == nil {
		t.Final = result.Final
	}
	v.List = append(v.List, t)
}

// judge says what the record lacks; nil where it lacks nothing.
func (v *verified) judge(r *record.Report, open bool) error {
	v.report, v.Entries, v.Trials, v.Audits, v.Head = r, r.Entries, r.Trials, r.Audits, r.Head
	torn := r.Fault != nil && r.Fault.Torn
	switch {
	case torn && r.Entries > 0:
		v.State = fmt.Sprintf("not closed, and cut in entry %d", r.Fault.Entry)
	case r.Fault != nil:
		v.State = "broken"
	case !r.Closed:
		v.State = "not closed"
	default:
		v.State = "complete"
	}
	if f := r.Fault; f != nil {
		v.Fault = &verifiedFault{f.Entry, f.Line, f.Offset, f.Err.Error()}
	}
	if v.found > 0 {
		since := r.Entries - v.found
		v.Since = &since
	}
	switch {
	case r.Fault != nil && r.Entries == 0: // without a whole header nothing holds, whatever is accepted
		return fmt.Errorf("%s: %w", v.Record, r.Fault)
	case r.Fault != nil && (!open || !torn):
		return fmt.Errorf("%s: %w; %s before it: they hold", v.Record, r.Fault, entries(r))
	case r.Entries == 0:
		return fmt.Errorf("%s is empty", v.Record)
	case !r.Closed && !open:
		return fmt.Errorf("%s is not closed: %s, and nobody can say whether that is all of them; --open accepts it", v.Record, entries(r))
	case v.wanted != "" && v.found == 0:
		return fmt.Errorf("%s has no entry with the head %s: it is another record, or entries were taken from its end", v.Record, v.wanted)
	case v.proof.fault != nil:
		return fmt.Errorf("%s: %w", v.Record, v.proof.fault)
	}
	p := v.proof.verifier.Proof
	if p != nil {
		v.Proof = proofOf(p)
	}
	why := ""
	switch {
	case v.commit == "":
		return nil
	case p == nil:
		why = "it has no proof: `shadowcourt alibi --proof` writes one"
	case p.Head != v.commit:
		why = fmt.Sprintf("it proves nothing of the commit %s: it is of commit %s", v.commit, sanitize.Line(p.Head))
	case p.Uncommitted:
		why = fmt.Sprintf("it proves nothing of the commit %s: it is of a tree with further changes that are not committed", v.commit)
	}
	return cli.Fault(why != "", "%s: %s", v.Record, why)
}

func (v *verified) json(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func (v *verified) print(w io.Writer) error {
	if v.Verified {
		var signed strings.Builder
		since := ""
		if v.Since != nil {
			since = "\nsince " + string(v.wanted) + ": " + cli.Count(*v.Since, "entry", "entries") + " added"
		}
		if p := v.proof.verifier.Proof; p != nil {
			since += "\nproof " + sanitize.Line(p.Summary())
		}
		for _, m := range v.Signed {
			signed.WriteString("\nmodule " + sanitize.Line(fmt.Sprintf("%s, signed by %s, accepted by %s", m.Module, m.Signer, m.Policy)))
		}
		_, err := fmt.Fprintf(w, "%s holds and is %s: %s\nkey   %s\nhead  %s%s\n",
			sanitize.Line(v.Record), v.State, entries(v.report), v.Key, v.Head, since+signed.String())
		if err != nil {
			return err
		}
	}
	if !v.list {
		return nil
	}
	t := table.NewWriter()
	t.SetStyle(cli.ListStyle())
	t.SuppressTrailingSpaces()
	t.AppendHeader(table.Row{"ENTRY", "CASE", "STATUS", "FINAL", "RESULT"})
	for i := range v.List {
		t.AppendRow(v.List[i].row())
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

func (t *listedTrial) row() table.Row {
	status, final := "not kept", ""
	if f := t.Final; f != nil {
		status = f.Status
		switch {
		case f.Classification != nil:
			final = *f.Classification + " " + trial.Number(f.Confidence)
		case f.Cause != nil:
			final = *f.Cause
		}
	}
	digest := string(t.Result)
	return table.Row{t.Entry, sanitize.Line(t.ID), sanitize.Line(status), sanitize.Line(final), digest[:min(len(digest), len("sha256:")+12)]}
}

var commitForm = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// verifiedProof is what verify says of the proof in a record.
type verifiedProof struct {
	Commit      string         `json:"commit"`
	Uncommitted bool           `json:"uncommitted"`
	Tree        record.Digest  `json:"tree"`
	Base        string         `json:"base"`
	Target      string         `json:"target,omitempty"`
	MaxFalse    float64        `json:"max_false_alibi"`
	Answers     []statedAnswer `json:"answers"`
	Unanswered  []string       `json:"unanswered,omitempty"`
}

type statedAnswer struct {
	ID      string        `json:"id"`
	Verdict alibi.Verdict `json:"verdict"`
	Label   string        `json:"attribution,omitempty"`
}

func proofOf(p *alibi.Proof) *verifiedProof {
	v := &verifiedProof{Commit: p.Head, Uncommitted: p.Uncommitted, Tree: p.Tree, Base: p.Base, Target: p.Target, MaxFalse: p.MaxFalse, Answers: []statedAnswer{}, Unanswered: p.Unanswered}
	for _, a := range p.Answers {
		v.Answers = append(v.Answers, statedAnswer{a.ID, a.Verdict, a.Label})
	}
	return v
}

// derivation derives the answers of a proof when all trials were replayed.
type derivation struct {
	verifier alibi.Verifier
	fault    error // of the statements
	trials   []replay.Replayed
}

// read takes an entry as it is read.
func (d *derivation) read(e *record.Entry, head record.Digest) {
	if err := d.verifier.Add(e, head); err != nil && d.fault == nil {
		d.fault = fmt.Errorf("entry %d: %w", e.Sequence, err)
	}
}

// keep keeps a replayed trial of a record with a proof.
func (d *derivation) keep(r *replay.Replayed) {
	if d.verifier.Proves() && r.Err == nil && r.Difference == nil {
		d.trials = append(d.trials, *r)
	}
}

// tell derives the answers of the trials that were replayed, tells each that differs, and says how many are the same.
func (d *derivation) tell(w io.Writer, header *record.Header, closed bool) (same int, err error) {
	if d.fault != nil {
		return 0, d.fault
	}
	if err := d.verifier.End(); err != nil {
		return 0, err
	}
	if d.verifier.Proves() && !closed {
		return 0, errors.New("the proof has no end: it was cut, or never closed")
	}
	p := d.verifier.Proof
	if p == nil {
		return 0, nil
	}
	deriver, err := alibi.NewDeriver(header, p)
	if err != nil {
		return 0, err
	}
	other := 0
	for i := range d.trials {
		r := &d.trials[i]
		at := slices.IndexFunc(p.Answers, func(a *alibi.Answer) bool { return a.ID == r.Was.ID })
		if err := deriver.Check(p.Answers[at], r.Was, r.Trial); err != nil {
			other++
			if _, err := fmt.Fprintf(w, "%s  does not follow from its runs: %s\n", sanitize.Line(r.Was.ID), sanitize.Line(err.Error())); err != nil {
				return same, err
			}
			continue
		}
		same++
	}
	if other > 0 {
		return same, fmt.Errorf("%s of the proof, %d the same", cli.Count(other, "answer does not follow from the runs", "answers do not follow from the runs"), same)
	}
	return same, nil
}

// All are the commands about records.
func All(s cli.Streams) []*cobra.Command {
	return []*cobra.Command{
		cli.Removed("explain", "use `shadowcourt try DOCKET --explain ID`, which explains a trial in prose, and `record replay`, which shows that it gives the same bytes"),
		newKey(s), newVerify(s), newReplay(s),
	}
}

func newKey(s cli.Streams) *cobra.Command {
	cmd := cli.Parent("key", "Make keys that records are signed with", newKeyNew(s))
	cmd.Example = "  shadowcourt record key new signing.key"
	return cmd
}

func newKeyNew(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "new FILE",
		Short: "Make a key",
		Long: `Make a key: an Ed25519 key in PKCS#8, which signs, in FILE, and in FILE.pub the public
key, which only verifies and is for everybody. A file that is there is never written
over; a FILE without its FILE.pub, as after a crash, gets that.`,
		Example: "  shadowcourt record key new my.key",
		Args:    cli.ExactArgs(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			return makeKey(s.Out, args[0])
		},
	}
}

func makeKey(out io.Writer, name string) error {
	key, err := record.NewKey(rand.Reader)
	if err != nil {
		return err
	}
	secret, err := key.PEM()
	if err != nil {
		return err
	}
	if err := createKey(name, secret, 0o600); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return finishPair(out, name, err)
		}
		return err
	}
	public, err := key.PublicPEM()
	if err != nil {
		return err
	}
	if err := createKey(name+".pub", public, 0o644); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	_, err = fmt.Fprintf(out, "%s\nsecret  %s\npublic  %s.pub\n", key, sanitize.Line(name), sanitize.Line(name))
	return err
}

// finishPair writes the public key beside a secret one that has none, as a run that was killed between the two leaves it. Beside one that
// has it, a temporary file of a killed run is removed.
func finishPair(out io.Writer, name string, exists error) error {
	text, err := disk.ReadBounded(name, open.MaxKeyBytes)
	if err != nil {
		return exists
	}
	key, err := record.ParseKey(text)
	if err != nil || !key.Signs() {
		return exists
	}
	public, err := key.PublicPEM()
	if err != nil {
		return err
	}
	if err = createKey(name+".pub", public, 0o644); errors.Is(err, fs.ErrExist) {
		return exists
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\nsecret  %s, which was there already without its public key\npublic  %s.pub\n", key, sanitize.Line(name), sanitize.Line(name))
	return err
}

// createKey writes a file that must not be there yet.
func createKey(name string, data []byte, mode fs.FileMode) error {
	err := disk.CreateNew(name, data, mode)
	if errors.Is(err, fs.ErrExist) {
		err = existsError{name}
	}
	return cli.FileError(err)
}

// existsError is fs.ErrExist of the file of a key.
type existsError struct{ name string }

func (e existsError) Error() string {
	return e.name + " is there already, and a key is never written over: remove it if nothing was signed with it, or use another name"
}

func (existsError) Is(target error) bool { return target == fs.ErrExist }
