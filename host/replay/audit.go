package replay

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/audit"
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
	r.audits.Host = Config{CacheDir: r.config.CacheDir, Now: r.config.Now, Limits: timeless(&h.Limits)}
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

// audit audits the opinion of a verdict again, if it was audited, and puts the
// audit beside the trial. A trial that goes another way has another opinion,
// which nobody has audited.
func (r *Replayer) audit(ctx context.Context, recorded *record.Trial, t *trial.Trial, again *record.Trial) error {
	if recorded.Audit == nil || recorded.ResultDigest != again.ResultDigest {
		return nil
	}
	subject, ok := OpinionOf(t, recorded.Audit.Court)
	if !ok {
		return nil
	}
	a, judges, err := r.auditor(ctx)
	if err != nil {
		return fmt.Errorf("the audit: %w", err)
	}
	generation, err := judges.take(ctx, recorded.Audit.Modules)
	if err != nil {
		return fmt.Errorf("the audit: %w", err)
	}
	defer func() { _ = generation.Release(context.WithoutCancel(ctx)) }()
	trail := newTrail(r.header.Contents)
	trail.script = newAuditScript(recorded)
	o, modules, err := a.auditIn(ctx, generation, subject, trail)
	if err != nil {
		return err
	}
	t.Result.Audit = AuditOf(o)
	if err := trail.endAudit(again, recorded.Audit.Court, modules, t.Result.Audit); err != nil {
		return err
	}
	again.Audit.Generation = recorded.Audit.Generation
	return nil
}
