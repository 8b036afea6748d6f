package work

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/service/store"
)

// Laboratories run experiments for the dockets of one repository.
type Laboratories struct {
	Repository string
	// Open opens one for a docket that names a revision, which may be any text.
	Open func(ctx context.Context, revision string) (Laboratory, error)
}

// Laboratory runs the experiments of a docket, and has a budget for them.
type Laboratory interface {
	host.Experiments
	// Close is called when no trial of the docket goes on. The docket's next batch opens another one.
	Close() error
}

// serves says whether a docket may run experiments.
func (l *Laboratories) serves(d *store.Docket) bool {
	return l != nil && d.Repository == l.Repository && d.Revision != ""
}

// key is that of the host for a batch.
func (f *fleet) key(b *store.Batch) hostKey {
	key := hostKey{generation: b.Generation, format: b.Docket.Format}
	if f.laboratories.serves(&b.Docket) {
		key.docket, key.revision = b.Docket.ID, b.Docket.Revision
	}
	return key
}

func (f *fleet) openLaboratory(ctx context.Context, key hostKey) (Laboratory, error) {
	l, err := f.laboratories.Open(ctx, key.revision)
	if err != nil {
		return nil, fmt.Errorf("open a laboratory: %w", err)
	}
	if why := l.Why(nil); why != "" {
		f.logger.WarnContext(ctx, "not all experiments can be run", "docket", key.docket, "reason", why)
	}
	return l, nil
}
