package host

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
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
func (r *Replayer) audit(ctx context.Context, recorded *record.Trial, t *docket.Trial, again *record.Trial) error {
	if recorded.Audit == nil || recorded.ResultDigest != again.ResultDigest {
		return nil
	}
	a, err := opened(r, r.auditors, recorded.Audit.Modules, func(files moduleFiles) (*Auditor, error) {
		config := r.audits
		config.Host.Modules = files
		return OpenAuditor(ctx, config)
	})
	if err != nil {
		return fmt.Errorf("the audit: %w", err)
	}
	trail := newTrail(r.header.Contents)
	trail.script = newAuditScript(recorded)
	if err := a.auditTrial(ctx, t, again, recorded.Audit.Court, trail); err != nil {
		return err
	}
	if again.Audit != nil {
		again.Audit.Generation = recorded.Audit.Generation
	}
	return nil
}
