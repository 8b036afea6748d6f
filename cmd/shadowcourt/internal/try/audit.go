package try

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
)

// tryAudit is the audit of the opinion of every verdict.
type tryAudit struct {
	rubric  string // empty for no audits
	auditor *host.Auditor
}

func (o *tryOptions) auditFlag(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.audit.rubric, "audit", "", "audit the opinion of every verdict by the `RUBRIC`, a file or the name of a shipped one, and --record the audit "+
		"with its trial, see 'shadowcourt audit --help'")
	f.Lookup("audit").NoOptDefVal = open.ShippedRubric
}

// checkAudit reads the values of a switch, and rejects flags that contradict each other.
func (o *tryOptions) checkAudit() error {
	switch o.audit.rubric {
	case "true":
		o.audit.rubric = open.ShippedRubric
	case "false":
		o.audit.rubric = ""
	}
	if o.audit.rubric != "" && o.NoCourt {
		return errors.New("--audit with --pipeline no-court: without a court there are no opinions")
	}
	return nil
}

// openAudit opens the Auditor, if one is asked for, and gives what closes it.
func (o *tryOptions) openAudit(ctx context.Context, s cli.Streams) (func(), error) {
	if o.audit.rubric == "" {
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
