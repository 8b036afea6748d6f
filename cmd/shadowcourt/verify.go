package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host/record"
)

// digestForm is what a digest looks like.
var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// verifyOptions are the flags of verify.
type verifyOptions struct {
	key, head, format string
	open, list        bool
}

func newVerify(s stdio) *cobra.Command {
	o := &verifyOptions{}
	cmd := &cobra.Command{
		Use:   "verify RECORD",
		Short: "Verify the signatures of a record of trials",
		Long: `Verify a record's signatures: every entry's signature, its place in the chain, its
bytes, and that the record is closed with the number of its trials. The first entry that
does not fit is named, with why; those before it hold. With --head it must also be the
record that had that head before, whatever was added since.

Exit codes: 0 the record holds and is complete; 1 it does not, or not all of it is there;
2 the command line is wrong.`,
		Example: `  shadowcourt verify trials.record --key court.key.pub
  shadowcourt verify trials.record --key court.key.pub --list
  shadowcourt verify trials.record --key court.key.pub --format json`,
		Args: exactArgs(1, "one record"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.format != "text" && o.format != "json" {
				return inputError(fmt.Errorf("--format %q: use text or json", o.format))
			}
			if cmd.Flags().Changed("head") && !digestForm.MatchString(o.head) {
				return inputError(fmt.Errorf("--head %q is no head: verify gives it as sha256: and 64 hex digits", o.head))
			}
			return o.run(cmd.Context(), s, args[0])
		},
	}
	keyFlag(cmd, &o.key, "the key of the record, public or secret")
	f := cmd.Flags()
	f.BoolVar(&o.open, "open", false, "take a record that is not closed, or ends in the middle of an entry, as one of a run that was interrupted")
	f.StringVar(&o.head, "head", "", "a head that verify gave earlier, which the record must have or have had")
	f.BoolVar(&o.list, "list", false, "list the trials, and how they ended")
	f.StringVar(&o.format, "format", "text", "text or json")
	return cmd
}

func (o *verifyOptions) run(ctx context.Context, s stdio, name string) error {
	key, err := loadKey(o.key)
	if err != nil {
		return inputError(err)
	}
	warnOfKey(s.err, o.key)
	f, err := openInTime(ctx, name)
	if err != nil {
		return orInterrupted(ctx, inputError(err))
	}
	defer func() { _ = f.Close() }()
	v := &verified{Record: name, Key: key.String(), wanted: record.Digest(o.head), list: o.list}
	report, err := record.Verify(ctx, newInterruptible(ctx, f), key, v.add)
	if err != nil {
		return orInterrupted(ctx, err)
	}
	err = v.judge(report, o.open)
	if v.Holds = err == nil; !v.Holds {
		why := err.Error()
		v.Why = &why
	}
	if o.format == "json" {
		return errors.Join(v.json(s.out), err)
	}
	if err == nil || o.list {
		err = errors.Join(v.print(s.out), err)
	}
	return err
}

// orInterrupted gives the error, unless a signal ended the work.
func orInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

func entries(r *record.Report) string {
	text := count(r.Entries, "entry", "entries") + " with " + count(r.Trials, "trial", "trials")
	if r.Audits > 0 {
		text += fmt.Sprintf(", %d of them audited", r.Audits)
	}
	return text
}

// recordFault says of a record that can't be read on what that means.
func recordFault(name string, err error) error {
	if _, ok := errors.AsType[*record.FaultError](err); ok {
		return fmt.Errorf("%s: %w; what is before it holds", name, err)
	}
	return err
}
