package replay

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// configureAudits reads what audits depend on from the header, if there are any.
// Time is not limited: the record says which calls it ended.
func (r *Replayer) configureAudits() error {
	h := r.header.Audit
	if h == nil {
		return nil
	}
	r.audits.Sandbox = court.Sandbox{CacheDir: r.trials.CacheDir, CallLimits: timeless(&h.Limits)}
	r.audits.Now = r.trials.Now
	var err error
	if r.audits.Pipeline, err = pipeline.Parse("audit.pipeline", []byte(h.Pipeline)); err != nil {
		return err
	}
	r.audits.Pipeline.Court.TTL = endless
	if r.audits.Rubric, err = audit.Parse("audit.rubric", []byte(h.Rubric)); err != nil {
		return err
	}
	return nil
}

// auditAgain audits the opinion of a verdict again, if it was audited, and puts the
// audit beside the trial. A trial that goes another way has another opinion,
// which nobody has audited.
func (r *Replayer) auditAgain(ctx context.Context, recorded *record.Trial, t *trial.Trial, again *record.Trial) error {
	if recorded.Audit == nil || recorded.ResultDigest != again.ResultDigest {
		return nil
	}
	a, modules, err := r.openAudit(ctx)
	if err != nil {
		return fmt.Errorf("the audit: %w", err)
	}
	generation, err := modules.take(ctx, recorded.Audit.Modules)
	if err != nil {
		return fmt.Errorf("the audit: %w", err)
	}
	defer func() { _ = generation.Release(context.WithoutCancel(ctx)) }()
	recorder := court.NewAuditReplay(r.header.Contents, recorded)
	if err := a.AuditTrial(ctx, generation, t, recorded.Audit.Court, again, recorder); err != nil {
		return err
	}
	if again.Audit != nil { // without a verdict there is none
		again.Audit.Generation = recorded.Audit.Generation
	}
	return nil
}
