package work

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

const (
	// deliveryTime is the most that an attempt takes.
	deliveryTime = 20 * time.Second
	// How long deliveries are listed that succeeded, and that are dead. Config.Keep may say less.
	keepDelivered = 7 * 24 * time.Hour
	keepDead      = 30 * 24 * time.Hour
)

// deliveryWorker sends messages to webhooks.
type deliveryWorker struct {
	river.WorkerDefaults[store.DeliveryArgs]
	worker *Worker
}

// Timeout is how long an attempt may take.
func (deliveryWorker) Timeout(*river.Job[store.DeliveryArgs]) time.Duration { return deliveryTime }

// Work makes an attempt. One that failed waits as long as the webhook's policy says.
func (w deliveryWorker) Work(ctx context.Context, job *river.Job[store.DeliveryArgs]) error {
	config := &w.worker.config
	d, err := config.Store.BeginDelivery(ctx, job.Args.Delivery)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = config.Webhooks.Attempt(ctx, &d)
	}
	if err == nil {
		err = config.Store.KeepTrying(ctx, firstPause, mostHeld, func() error { return config.Store.EndAttempt(ctx, &d) })
	}
	if errors.Is(err, store.ErrTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	if d.State == store.DeliveryDead {
		config.Logger.WarnContext(ctx, "a message to a webhook is a dead letter", "webhook", d.Hook, "delivery", d.ID, "attempts", d.Attempt, "status", d.Status)
	}
	if config.OnDelivery != nil {
		config.OnDelivery(d)
	}
	if d.State == store.DeliveryPending {
		return river.JobSnooze(max(d.Due.Sub(config.Now()), 0))
	}
	return nil
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
