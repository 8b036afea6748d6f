package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const deliveryColumns = `id, message, hook, event, state, attempt, status, answer, created, due, sent, body`

func scanDelivery(scan scanner) (d Delivery, err error) {
	var body []byte
	if err := scan(&d.ID, &d.Message, &d.Hook, &d.Event, &d.State, &d.Attempt, &d.Status, &d.Answer, moment{&d.Created}, moment{&d.Due}, moment{&d.Sent}, &body); err != nil {
		return d, err
	}
	if body, err = unpack(body, "a delivery"); err == nil {
		err = json.Unmarshal(body, &d.What)
	}
	return d, err
}

// DeliveryFilter selects deliveries. Zero fields select all.
type DeliveryFilter struct {
	Hook   string
	State  DeliveryState
	Before int64 // gives only deliveries with smaller ids
	Limit  int   // 0: 100, and at most 1,000
}

// Deliveries lists deliveries, the latest first.
func (s *Store) Deliveries(ctx context.Context, f DeliveryFilter) ([]Delivery, error) {
	var w where
	w.equal("hook", f.Hook)
	w.equal("state", string(f.State))
	w.before(f.Before)
	return rowsOf(ctx, s.db, `SELECT `+deliveryColumns+` FROM webhook_deliveries`+w.text()+` ORDER BY id DESC`+w.limit(f.Limit, 100, 1000), w.args, scanDelivery)
}

// BeginDelivery counts an attempt of a delivery. ErrNotFound: it has ended, or is not there.
func (s *Store) BeginDelivery(ctx context.Context, id int64) (d Delivery, err error) {
	err = s.write(ctx, func(t *tx) error {
		d, err = rowOf(ctx, t, fmt.Sprintf("delivery %d", id), `UPDATE webhook_deliveries SET state = 'sending', attempt = attempt + 1, sent = $1
			WHERE id = $2 AND state IN ('pending', 'sending') RETURNING `+deliveryColumns, []any{s.now(), id}, scanDelivery)
		return err
	})
	return d, err
}

// EndAttempt keeps what came of an attempt: the state, status, answer and due of the delivery. ErrTaken: another one has begun, and nothing was kept.
func (s *Store) EndAttempt(ctx context.Context, d *Delivery) error {
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(ctx, `UPDATE webhook_deliveries SET state = $1, status = $2, answer = $3, due = $4, finished = $5
			WHERE id = $6 AND state = 'sending' AND attempt = $7`,
			string(d.State), int64(d.Status), text(d.Answer, maxName), micros(d.Due), s.now(), d.ID, int64(d.Attempt))
		if err == nil && n == 0 {
			err = fmt.Errorf("delivery %d: %w", d.ID, ErrTaken)
		}
		return err
	})
}

// Redeliver has a delivery sent again at once, with the same message, that is dead or was delivered. One that waits is ErrState.
func (s *Store) Redeliver(ctx context.Context, id int64) (d Delivery, err error) {
	err = s.write(ctx, func(t *tx) error {
		n, err := t.exec(ctx, `UPDATE webhook_deliveries SET state = 'pending', attempt = 0, due = $1, finished = 0 WHERE id = $2 AND state IN ('dead', 'delivered')
			AND EXISTS (SELECT 1 FROM webhooks w WHERE w.name = webhook_deliveries.hook)`, s.now(), id)
		if err != nil {
			return err
		}
		if d, err = rowOf(ctx, t, fmt.Sprintf("delivery %d", id), `SELECT `+deliveryColumns+` FROM webhook_deliveries WHERE id = $1`, []any{id}, scanDelivery); err != nil {
			return err
		}
		switch {
		case n > 0:
			return t.queueDelivery(ctx, d.ID, d.Hook)
		case d.State == DeliveryDead || d.State == Delivered:
			return fmt.Errorf("the webhook %q of delivery %d was removed: %w", d.Hook, id, ErrState)
		default:
			return fmt.Errorf("delivery %d is %s: %w", id, d.State, ErrState)
		}
	})
	return d, err
}

// RemoveDeliveries removes what was delivered, and what never will be, that ended longer ago than two times; and of what ended of each
// webhook all but the last [MaxDeliveries].
func (s *Store) RemoveDeliveries(ctx context.Context, delivered, dead time.Duration) (removed int64, err error) {
	r := retention{store: s}
	remove := func(which string, args ...any) {
		for n := int64(retainRows); err == nil && n == retainRows; {
			n, err = r.some(ctx, &removed, `DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM webhook_deliveries WHERE `+which+` LIMIT $1)`,
				append([]any{int64(retainRows)}, args...)...)
		}
	}
	remove(`state = 'delivered' AND finished < $2`, s.now()-delivered.Microseconds())
	remove(`state = 'dead' AND finished < $2`, s.now()-dead.Microseconds())
	hooks, failed := rowsOf(ctx, s.db, `SELECT DISTINCT hook FROM webhook_deliveries`, nil, value[string]) // also of removed webhooks
	if err == nil {
		err = failed
	}
	for _, hook := range hooks {
		const ended = `hook = $2 AND state IN ('delivered', 'dead')`
		remove(ended+` AND id <= (SELECT id FROM webhook_deliveries WHERE `+ended+` ORDER BY id DESC LIMIT 1 OFFSET $3)`, hook, int64(MaxDeliveries))
	}
	return removed, err
}
