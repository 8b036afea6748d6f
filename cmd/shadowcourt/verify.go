package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host/record"
)

func newVerify(s stdio) *cobra.Command {
	var key string
	var open bool
	cmd := &cobra.Command{
		Use:   "verify RECORD",
		Short: "Hold a record of trials against its key",
		Long: `Hold a record against its key: every entry's signature, its place in the chain, its
bytes, and that the record is closed with the number of its trials. The first entry that
does not fit is named, with why; those before it hold.

Exit codes: 0 the record holds and is complete; 1 it does not, or not all of it is there;
2 the command line is wrong.`,
		Example: "  shadowcourt verify trials.record --key court.key.pub",
		Args:    exactArgs(1, "one record"),
		RunE: func(_ *cobra.Command, args []string) error {
			return verifyRecord(s, args[0], key, open)
		},
	}
	keyFlag(cmd, &key, "the key of the record, public or secret")
	cmd.Flags().BoolVar(&open, "open", false, "take a record that is not closed, or ends in the middle of an entry, as one of a run that was interrupted")
	return cmd
}

func verifyRecord(s stdio, name, keyName string, open bool) error {
	key, err := loadKey(keyName)
	if err != nil {
		return inputError(err)
	}
	warnOfKey(s.err, keyName)
	f, err := os.Open(name)
	if err != nil {
		return inputError(err)
	}
	defer func() { _ = f.Close() }()
	report, err := record.Verify(f, key)
	if err != nil {
		return err
	}
	torn := report.Fault != nil && report.Fault.Torn
	switch {
	case report.Fault != nil && (!open || !torn):
		return fmt.Errorf("%s: %w; %s before it: they hold", name, report.Fault, entries(report))
	case !report.Closed && !open:
		return fmt.Errorf("%s is not closed: %s, and nobody can say whether that is all of them; --open accepts it", name, entries(report))
	}
	state := "complete"
	switch {
	case torn:
		state = fmt.Sprintf("not closed, and cut in entry %d", report.Fault.Entry)
	case !report.Closed:
		state = "not closed"
	}
	_, err = fmt.Fprintf(s.out, "%s holds and is %s: %s\nkey   %s\nhead  %s\n", inertLine(name), state, entries(report), key, report.Head)
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
