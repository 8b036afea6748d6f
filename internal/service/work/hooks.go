package work

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/webhook"
)

const (
	// hookPause is how often a worker looks for deliveries that are due again, or whose worker is gone.
	hookPause = time.Second
	// hookTime is how long a ticket is good for further deliveries, and hookTimeout the most that its job takes.
	hookTime    = 2 * time.Minute
	hookTimeout = 5 * time.Minute
	// How long deliveries are listed that succeeded, and that are dead. Config.Keep may say less.
	keepDelivered = 7 * 24 * time.Hour
	keepDead      = 30 * 24 * time.Hour
)

// hooks sends deliveries to webhooks, at most webhook.AtOnce to each at a time: one that is slow holds up no other.
type hooks struct {
	worker   *Worker
	stopping <-chan struct{}

	mu   sync.Mutex     // held while a delivery is claimed, so that one is not taken for lost
	has  map[int64]bool // the deliveries that are sent
	busy map[string]int // how many of each webhook
}

// hookWorker works on the tickets of deliveries.
type hookWorker struct {
	river.WorkerDefaults[store.HookTicket]
	*hooks
}

// Timeout is how long a ticket may take.
func (hookWorker) Timeout(*river.Job[store.HookTicket]) time.Duration { return hookTimeout }

// Work sends deliveries until none is due, or the worker is to stop. A delivery that could not be sent, or of which that could not be kept,
// is looked for again; so no ticket is repeated.
func (h hookWorker) Work(ctx context.Context, _ *river.Job[store.HookTicket]) error {
	for begun := time.Now(); time.Since(begun) < hookTime; { //nolint:forbidigo // a duration, by the monotonic clock
		select {
		case <-h.stopping:
			return nil
		default:
		}
		if !h.more(ctx) {
			return nil
		}
	}
	return nil
}

// more sends one delivery, and says whether another may be due.
func (h *hooks) more(ctx context.Context) bool {
	err := h.next(ctx)
	switch {
	case err == nil, errors.Is(err, store.ErrTaken):
		return true
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrFull), ctx.Err() != nil:
	default:
		h.worker.config.Logger.WarnContext(ctx, "a worker could not send to a webhook", "error", err)
	}
	return false
}

// next sends one delivery; store.ErrNotFound where none is due.
func (h *hooks) next(ctx context.Context) error {
	d, err := h.claim(ctx)
	if err != nil {
		return err
	}
	defer h.done(&d)
	config := &h.worker.config
	if err := config.Webhooks.Attempt(ctx, &d); err != nil {
		return err
	}
	if err := config.Store.KeepTrying(ctx, firstPause, mostHeld, func() error { return config.Store.EndAttempt(ctx, h.worker.info.ID, &d) }); err != nil {
		return err
	}
	if d.State == store.DeliveryDead {
		config.Logger.WarnContext(ctx, "a message to a webhook is a dead letter", "webhook", d.Hook, "delivery", d.ID, "attempts", d.Attempt, "status", d.Status)
	}
	if config.OnDelivery != nil {
		config.OnDelivery(d)
	}
	return nil
}

// room are the webhooks that less is sent to than may be. The caller holds mu.
func (h *hooks) room() []string {
	return slices.DeleteFunc(h.worker.config.Webhooks.Names(), func(name string) bool { return h.busy[name] >= webhook.AtOnce })
}

func (h *hooks) claim(ctx context.Context) (store.Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, beginTime)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	d, err := h.worker.config.Store.ClaimDelivery(ctx, h.worker.info.ID, h.room())
	if err == nil {
		h.has[d.ID] = true
		h.busy[d.Hook]++
	}
	return d, err
}

func (h *hooks) done(d *store.Delivery) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.has, d.ID)
	h.busy[d.Hook]--
}

// keep wakes the worker for deliveries that are due, until the context ends.
func (h *hooks) keep(ctx context.Context) {
	ticker := time.NewTicker(hookPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := h.wake(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrFull) {
			h.worker.config.Logger.WarnContext(ctx, "a worker could not look for messages to webhooks", "error", err)
		}
	}
}

func (h *hooks) wake(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, slowestBeat)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	has := []int64{}
	for id := range h.has {
		has = append(has, id)
	}
	return h.worker.config.Store.WakeHooks(ctx, h.worker.info.ID, has, h.room())
}

// removeDeliveries removes old ones.
func (w *Worker) removeDeliveries(ctx context.Context) error {
	delivered, dead := keepDelivered, keepDead
	if age := w.config.Keep.Age; age > 0 {
		delivered, dead = min(delivered, age), min(dead, age)
	}
	_, err := w.config.Store.RemoveDeliveries(ctx, delivered, dead)
	return err
}
