package try

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
)

// tryAudit are the flags by which the opinion of every verdict is audited.
type tryAudit struct {
	on      bool
	rubric  string
	auditor *host.Auditor
}

func (o *tryOptions) auditFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.audit.on, "audit", false, "audit the opinion of every verdict, and --record the audit with its trial, see 'shadowcourt audit --help'")
	cmd.Flags().StringVar(&o.audit.rubric, "rubric", open.ShippedRubric, "with --audit: rubric file, or the name of a shipped one")
}

// checkAudit rejects flags that contradict each other.
func (o *tryOptions) checkAudit() error {
	switch {
	case !o.audit.on:
		return o.ChangedWithout("--audit", "rubric")
	case o.NoCourt:
		return errors.New("--audit with --no-court: without a court there are no opinions")
	}
	return nil
}

// openAudit opens the Auditor, if one is asked for, and gives what closes it.
func (o *tryOptions) openAudit(ctx context.Context, s cli.Streams) (func(), error) {
	if !o.audit.on {
		return func() {}, nil
	}
	var err error
	o.audit.auditor, err = open.Auditor(ctx, s, open.AuditorFlags{
		Rubric: o.audit.rubric, Pipeline: open.ShippedAudit, Modules: o.Modules, Cache: o.Cache, Store: o.record.store,
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = o.audit.auditor.Close(context.WithoutCancel(ctx)) }, nil
}
