// Package records has the commands about signed records: key, verify, replay and explain.
package records

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/input"
)

// digestForm is what a digest looks like.
var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// verifyOptions are the flags of verify.
type verifyOptions struct {
	key, head, format string
	open, list        bool
}

// newVerify is the command `verify`.
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

Exit codes: 0 the records hold and are complete; 1 one does not, or not all of it is there;
2 the command line is wrong.`,
		Example: `  shadowcourt verify trials.record --key court.key.pub
  shadowcourt verify trials.record --key court.key.pub --list
  shadowcourt verify trials.record --key court.key.pub --format json
  shadowcourt verify docket-17/*.record --key court.key.pub`,
		Args: needsRecord,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.format != "text" && o.format != "json" {
				return cli.InputError(fmt.Errorf("--format %q: use text or json", o.format))
			}
			if cmd.Flags().Changed("head") && !digestForm.MatchString(o.head) {
				return cli.InputError(fmt.Errorf("--head %q is no head: verify gives it as sha256: and 64 hex digits", o.head))
			}
			if o.head != "" && len(args) > 1 {
				return cli.InputError(errors.New("--head is that of one record: name one"))
			}
			return o.run(cmd.Context(), s, args)
		},
	}
	open.KeyFlag(cmd, &o.key, "the key of the record, public or secret")
	f := cmd.Flags()
	f.BoolVar(&o.open, "open", false, "take a record that is not closed, or ends in the middle of an entry, as one of a run that was interrupted")
	f.StringVar(&o.head, "head", "", "a head that verify gave earlier, which the record must have or have had")
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
	f, err := input.OpenFile(ctx, name)
	if err != nil {
		return cli.OrInterrupted(ctx, cli.InputError(err))
	}
	defer func() { _ = f.Close() }()
	v := &verified{Record: name, Key: key.String(), wanted: record.Digest(o.head), list: o.list}
	report, err := record.Verify(ctx, input.NewReader(ctx, f), key, v.add)
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
