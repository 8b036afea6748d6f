package store

import (
	"context"
	"crypto/rand"
	"path"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// HookEventType is what a message to a webhook is about.
type HookEventType string

// The types of events.
const (
	DocketFinished      HookEventType = "docket.finished"
	FailureYours        HookEventType = "failure.yours"
	FailureOpen         HookEventType = "failure.open"
	VerdictCorrected    HookEventType = "verdict.corrected"
	GenerationActivated HookEventType = "generation.activated"
)

// HookEventTypes lists all types. Those of dockets come first, the most urgent first: a docket makes one message for a webhook.
func HookEventTypes() []HookEventType {
	return []HookEventType{FailureYours, FailureOpen, DocketFinished, VerdictCorrected, GenerationActivated}
}

// Webhook says which messages a webhook of the operator gets. Its address and its secrets are in no database.
type Webhook struct {
	Name         string
	Events       []HookEventType
	Repositories []string // patterns; none: all
}

// wants says whether the webhook gets events of a repository.
func (h *Webhook) wants(repository string) bool {
	return slices.ContainsFunc(h.Repositories, func(pattern string) bool {
		ok, _ := path.Match(pattern, repository) // patterns were checked when they were read
		return ok
	})
}

// HookEvent is what happened, as it was stored in the transaction in which it did. One of the pointers is set.
type HookEvent struct {
	Type       HookEventType   `json:"type"`
	Time       time.Time       `json:"timestamp"`
	Docket     *HookDocket     `json:"docket,omitempty"`
	Correction *HookCorrection `json:"correction,omitempty"`
	Generation *HookGeneration `json:"generation,omitempty"`
}

// HookDocket is a docket that ended.
type HookDocket struct {
	Docket `json:",inline"`
	// Yours, NotYours and Open count the answers of the alibi. Failures without a label and faults are open, too.
	Yours    int `json:"yours"`
	NotYours int `json:"not_yours"`
	Open     int `json:"open"`
}

// HookCorrection is a correction.
type HookCorrection struct {
	ID           int64    `json:"id"`
	Label        string   `json:"label"`
	Author       string   `json:"author"`
	Undone       bool     `json:"undone"` // by the author
	Trials       int      `json:"trials"`
	Repositories []string `json:"repositories,omitempty"` // of the trials
}

// HookGeneration is a generation that was put in force.
type HookGeneration struct {
	ID     int64  `json:"id"`
	Author string `json:"author"`
	Note   string `json:"note,omitempty"`
}

// MessageArgs are a job of the queue: a message to a webhook. What no attempt delivers is a job that the queue discards.
type MessageArgs struct {
	Hook string `json:"hook"`
	ID   string `json:"id"` // the same in all attempts
	// Event is a HookEvent in JSON; as bytes, since PostgreSQL's JSON takes not every text.
	Event []byte `json:"event"`
}

// What is the event.
func (m *MessageArgs) What() (e HookEvent, err error) {
	err = parse(string(m.Event), &e)
	return e, err
}

// Kind names the jobs in the queue.
func (MessageArgs) Kind() string { return "shadowcourt_message" }

// InsertOpts has a message sent for the last time about 17 hours behind the first one.
func (MessageArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 13} }

// HookQueue is the queue of the messages to a webhook: one that is slow holds up no other.
func HookQueue(hook string) string { return "hook-" + hook }

// send queues a message.
func (t *tx) send(ctx context.Context, m MessageArgs) error {
	_, err := t.db.queue.InsertTx(ctx, t.raw, m, &river.InsertOpts{Queue: HookQueue(m.Hook)})
	return err
}

// SetWebhooks says which webhooks get messages from now on, from every process. What waits for others is removed.
func (s *Store) SetWebhooks(ctx context.Context, hooks []Webhook) error {
	return s.write(ctx, func(t *tx) error {
		before, err := t.webhooks(ctx)
		t.run(ctx, `DELETE FROM webhooks`)
		for i := range hooks {
			h := &hooks[i]
			t.run(ctx, `INSERT INTO webhooks (name, events, repositories) VALUES ($1, $2, $3)`, h.Name, object(h.Events), list(h.Repositories))
		}
		for i := range before {
			if err == nil && !slices.ContainsFunc(hooks, func(h Webhook) bool { return h.Name == before[i].Name }) {
				err = t.removeJobs(ctx, river.NewJobDeleteManyParams().Queues(HookQueue(before[i].Name)).
					States(rivertype.JobStateAvailable, rivertype.JobStateScheduled, rivertype.JobStateRetryable))
			}
		}
		return err
	})
}

func (t *tx) webhooks(ctx context.Context) ([]Webhook, error) {
	return rowsOf(ctx, t, `SELECT name, events, repositories FROM webhooks ORDER BY name`, nil, func(scan scanner) (h Webhook, err error) {
		err = scan(&h.Name, encoded{&h.Events}, encoded{&h.Repositories})
		return h, err
	})
}

// post queues an event about repositories for each webhook that names one of the types, under the first of them. Without repositories it
// is about all.
func (t *tx) post(ctx context.Context, hooks []Webhook, repositories []string, what HookEvent, types ...HookEventType) error {
	for i := range hooks {
		h := &hooks[i]
		at := slices.IndexFunc(types, func(e HookEventType) bool { return slices.Contains(h.Events, e) })
		if at < 0 || len(h.Repositories) > 0 && repositories != nil && !slices.ContainsFunc(repositories, h.wants) {
			continue
		}
		what.Type = types[at]
		if err := t.send(ctx, MessageArgs{Hook: h.Name, ID: "msg_" + rand.Text(), Event: []byte(object(what))}); err != nil {
			return err
		}
	}
	return nil
}

// postDocket queues that a docket has ended. A column alibi begins with its verdict (see Alibi); open are also failures without a label, and faults.
func (t *tx) postDocket(ctx context.Context, id, now int64) error {
	hooks, err := t.webhooks(ctx)
	if err != nil || len(hooks) == 0 {
		return err
	}
	h := &HookDocket{}
	if h.Docket, err = readDocket(WithoutLimit(ctx), t, id); err != nil {
		return err
	}
	if err := one(ctx, t, `SELECT coalesce(sum(CASE WHEN alibi LIKE '{"verdict":"yours",%' THEN 1 ELSE 0 END), 0),
		coalesce(sum(CASE WHEN alibi LIKE '{"verdict":"not yours",%' THEN 1 ELSE 0 END), 0),
		coalesce(sum(CASE WHEN alibi LIKE '{"verdict":"open",%' OR alibi = '' AND label = '' AND (status <> '' OR fault <> '') THEN 1 ELSE 0 END), 0)
		FROM entries WHERE docket = $1`, []any{id}, &h.Yours, &h.NotYours, &h.Open); err != nil {
		return err
	}
	var types []HookEventType
	if h.Yours > 0 {
		types = append(types, FailureYours)
	}
	if h.Open > 0 {
		types = append(types, FailureOpen)
	}
	return t.post(ctx, hooks, []string{h.Repository}, HookEvent{Time: at(now), Docket: h}, append(types, DocketFinished)...)
}

// postCorrection queues that verdicts were corrected, or a correction was undone.
func (t *tx) postCorrection(ctx context.Context, c *Correction, author string, undone bool, now int64) error {
	hooks, err := t.webhooks(ctx)
	if err != nil || len(hooks) == 0 {
		return err
	}
	about, err := rowsOf(ctx, t, `SELECT DISTINCT e.repository FROM correction_entries c JOIN entries e ON e.docket = c.docket AND e.ordinal = c.ordinal
		WHERE c.correction = $1 ORDER BY e.repository`, []any{c.ID}, value[string])
	if err != nil {
		return err
	}
	return t.post(ctx, hooks, about, HookEvent{Time: at(now), Correction: &HookCorrection{
		ID: c.ID, Label: c.Label, Author: author, Undone: undone, Trials: c.Entries, Repositories: about,
	}}, VerdictCorrected)
}
