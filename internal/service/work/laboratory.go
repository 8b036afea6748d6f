package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
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
	// Close is called when no trial of the docket goes on. The docket's next case opens another one.
	Close() error
}

// serves says whether a docket may run experiments.
func (l *Laboratories) serves(d *store.Docket) bool {
	return l != nil && d.Repository == l.Repository && d.Revision != ""
}

// key is that of the host for a case.
func (f *fleet) key(c *store.Claim) hostKey {
	key := hostKey{generation: c.Generation, format: c.Docket.Format, answered: c.Docket.Answered}
	if f.laboratories.serves(&c.Docket) {
		key.docket, key.revision = c.Docket.ID, c.Docket.Revision
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

// closeEnded closes the laboratories of dockets that have ended, with what they wrote.
func (f *fleet) closeEnded(ctx context.Context) (err error) {
	for _, key := range f.keys() {
		if key.docket == 0 {
			continue
		}
		d, read := f.store.Docket(ctx, key.docket)
		if errors.Is(read, store.ErrNotFound) || read == nil && d.State.Ended() {
			_ = f.drop(key) // what it leaves in its temporary folder is removed later
			continue
		}
		err = errors.Join(err, read)
	}
	return err
}
