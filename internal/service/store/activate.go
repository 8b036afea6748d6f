package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// ActivationState says how far an activation is.
type ActivationState string

// The states of activations.
const (
	Pending  ActivationState = "pending"  // workers load the generation
	Active   ActivationState = "active"   // it became the current one
	Rejected ActivationState = "rejected" // a worker could not load it or did not answer in time, or somebody abandoned it
)

// Activation is a request to put a generation in force, be it a new or an old one.
type Activation struct {
	ID         int64           `json:"id" minimum:"1" doc:"ID of the activation"`
	Generation int64           `json:"generation" minimum:"1" doc:"Generation to put in force"`
	Author     string          `json:"author" doc:"Who asked for it"`
	State      ActivationState `json:"state" enum:"pending,active,rejected" doc:"pending while workers load it"`
	Reason     string          `json:"reason,omitempty" doc:"Why it was rejected"`
	Created    time.Time       `json:"created" doc:"When it was asked for"`
	Finished   time.Time       `json:"finished,omitzero" doc:"When it was decided"`
	// Loads are the answers so far; a pending activation also lists the workers that it waits for.
	Loads []Load `json:"workers" doc:"Answers of workers"`
}

// Load is what came of loading a generation in one worker.
type Load struct {
	Worker string `json:"worker" doc:"ID of the worker"`
	Loaded bool   `json:"loaded" doc:"Whether it answered"`
	Fault  string `json:"fault,omitempty" doc:"Why it can't load the generation"`
}

// ActivationTimeout is how long workers have to load a generation.
const ActivationTimeout = 2 * time.Minute

// Activate asks all workers to load a generation. When every live one has, it becomes the current one in one transaction; if one
// can't, nothing changes, and the activation is rejected: see [Store.Activation] and EventGeneration. With no worker at all it
// is current at once. There is one at a time: while another is pending the error is ErrState.
func (s *Store) Activate(ctx context.Context, author string, generation int64) (Activation, error) {
	var id int64
	err := s.write(ctx, func(t *tx) error {
		t.lockGeneration(ctx)
		if _, err := readGeneration(ctx, t, generation); err != nil {
			return err
		}
		var pending int64
		if err := one(ctx, t, `SELECT count(*) FROM activations WHERE state = 'pending'`, nil, &pending); err != nil {
			return err
		}
		if pending > 0 {
			return fmt.Errorf("another generation is being activated; wait until it is decided, or abandon it: %w", ErrState)
		}
		if err := one(ctx, t, `INSERT INTO activations (generation, author, state, reason, created, finished)
			VALUES ($1, $2, 'pending', '', $3, 0) RETURNING id`, []any{generation, text(author, maxName), s.now()}, &id); err != nil {
			return err
		}
		return t.notify(ctx, Event{EventGeneration, generation})
	})
	if err != nil {
		return Activation{}, err
	}
	if err := s.settle(ctx, id); err != nil {
		return Activation{}, err
	}
	return s.Activation(ctx, id)
}

// lockGeneration makes changes of the current generation take turns.
func (t *tx) lockGeneration(ctx context.Context) {
	t.run(ctx, `UPDATE counters SET value = value WHERE name = 'generation'`)
}

// PendingActivation is the activation that workers are to load; ErrNotFound for none.
func (s *Store) PendingActivation(ctx context.Context) (id, generation int64, err error) {
	err = one(ctx, s.db, `SELECT id, generation FROM activations WHERE state = 'pending' ORDER BY id LIMIT 1`, nil, &id, &generation)
	return id, generation, err
}

// Loaded is a worker's answer to an activation: fault is nil where it loaded the generation. The answer that is the last one
// ends the activation.
func (s *Store) Loaded(ctx context.Context, activation int64, worker string, fault error) error {
	why := ""
	if fault != nil {
		why = text(fault.Error(), maxText)
	}
	err := s.change(ctx, `INSERT INTO loads (activation, worker, fault) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, activation, worker, why)
	return errors.Join(err, s.settle(ctx, activation))
}

// SettleActivation ends the pending activation, if there is one and all live workers have answered, or the time is over. Workers
// call it with every heartbeat.
func (s *Store) SettleActivation(ctx context.Context) error {
	id, _, err := s.PendingActivation(ctx)
	if err == nil {
		return s.settle(ctx, id)
	}
	if isNotFound(err) {
		return nil
	}
	return err
}

// settle decides a pending activation where it can be decided.
func (s *Store) settle(ctx context.Context, id int64) error {
	return s.write(ctx, func(t *tx) error {
		t.lockGeneration(ctx)
		a, err := s.readActivation(ctx, t, id)
		if err != nil || a.State != Pending {
			return err
		}
		var waiting []string
		failed := map[string][]string{} // workers by what they say
		for _, l := range a.Loads {
			if l.Fault != "" {
				failed[l.Fault] = append(failed[l.Fault], l.Worker)
			} else if !l.Loaded {
				waiting = append(waiting, l.Worker)
			}
		}
		state, reason := Active, ""
		switch {
		case len(failed) > 0:
			var faults []string
			for _, fault := range slices.Sorted(maps.Keys(failed)) {
				faults = append(faults, strings.Join(failed[fault], ", ")+": "+fault)
			}
			state, reason = Rejected, strings.Join(faults, "\n")
		case len(waiting) > 0 && s.pending.waited(id, time.Since(s.begun)) < ActivationTimeout:
			return nil
		case len(waiting) > 0:
			state, reason = Rejected, fmt.Sprintf("not loaded within %s by %s", ActivationTimeout, strings.Join(waiting, ", "))
		}
		if state == Active {
			t.run(ctx, `UPDATE counters SET value = $1 WHERE name = 'generation'`, a.Generation)
			if err := t.tellGeneration(ctx, &a, s.now()); err != nil {
				return err
			}
		}
		return s.endActivation(ctx, t, &a, state, reason)
	})
}

// pendingSince is since when this process knows of an activation that is pending, by its steady clock: the time of the machine that asked for
// it may be hours away, or jump.
type pendingSince struct {
	mu    sync.Mutex
	id    int64
	since time.Duration
}

// waited is how long this process has known of an activation.
func (p *pendingSince) waited(id int64, now time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id != id {
		p.id, p.since = id, now
	}
	return now - p.since
}

func (s *Store) endActivation(ctx context.Context, t *tx, a *Activation, state ActivationState, reason string) error {
	t.run(ctx, `UPDATE activations SET state = $1, reason = $2, finished = $3 WHERE id = $4`, string(state), text(reason, maxText), s.now(), a.ID)
	return t.notify(ctx, Event{EventGeneration, a.Generation})
}

// Abandon ends a pending activation: the current generation stays. One that has ended is ErrState.
func (s *Store) Abandon(ctx context.Context, author string, id int64) (a Activation, err error) {
	err = s.write(ctx, func(t *tx) error {
		t.lockGeneration(ctx)
		if a, err = s.readActivation(ctx, t, id); err != nil {
			return err
		}
		if a.State != Pending {
			return fmt.Errorf("activation %d is %s: %w", id, a.State, ErrState)
		}
		if err := s.endActivation(ctx, t, &a, Rejected, "abandoned by "+author); err != nil {
			return err
		}
		a, err = s.readActivation(ctx, t, id)
		return err
	})
	return a, err
}

// Activation reads one.
func (s *Store) Activation(ctx context.Context, id int64) (a Activation, err error) {
	err = s.db.snapshot(ctx, func(q querier) error {
		a, err = s.readActivation(ctx, q, id)
		return err
	})
	return a, err
}

// Activations lists the latest ones, the latest first, without their loads; at most limit, 0 for 100.
func (s *Store) Activations(ctx context.Context, limit int) ([]Activation, error) {
	var w where
	return rowsOf(ctx, s.db, `SELECT `+activationColumns+` FROM activations ORDER BY id DESC`+w.limit(limit, 100, 1000), nil, scanActivation)
}

const activationColumns = `id, generation, author, state, reason, created, finished`

func scanActivation(scan scanner) (Activation, error) {
	a := Activation{Loads: []Load{}}
	err := scan(&a.ID, &a.Generation, &a.Author, &a.State, &a.Reason, moment{&a.Created}, moment{&a.Finished})
	return a, err
}

func (s *Store) readActivation(ctx context.Context, q querier, id int64) (Activation, error) {
	a, err := rowOf(ctx, q, fmt.Sprintf("activation %d", id), `SELECT `+activationColumns+` FROM activations WHERE id = $1`, []any{id}, scanActivation)
	if err != nil {
		return a, err
	}
	a.Loads, err = rowsOf(ctx, q, `SELECT worker, fault FROM loads WHERE activation = $1 ORDER BY worker`, []any{id}, func(scan scanner) (Load, error) {
		l := Load{Loaded: true}
		err := scan(&l.Worker, &l.Fault)
		return l, err
	})
	if err != nil || a.State != Pending {
		return a, err
	}
	answered := a.Loads
	live, err := s.liveWorkers(ctx, q)
	for _, w := range live {
		if !slices.ContainsFunc(answered, func(l Load) bool { return l.Worker == w.ID }) {
			a.Loads = append(a.Loads, Load{Worker: w.ID})
		}
	}
	return a, err
}
