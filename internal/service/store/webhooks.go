package store

import (
	"context"
	"crypto/rand"
	"path"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/host/alibi"
)

// HookEventType is what webhooks are told of.
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

// Webhook is what a webhook of the operator is told. Its address and its secrets are in no database.
type Webhook struct {
	Name         string          `json:"name" doc:"Name of the webhook in the operator's file"`
	Events       []HookEventType `json:"events" doc:"What it is told of"`
	Repositories []string        `json:"repositories,omitempty" doc:"Patterns of repositories whose events it gets; absent: all"`
	Pending      int             `json:"pending" minimum:"0" doc:"Deliveries that wait or are sent"`
	Dead         int             `json:"dead" minimum:"0" doc:"Dead letters: deliveries that are not tried any more"`
}

// wants says whether the webhook is told of events of a repository.
func (h *Webhook) wants(repository string) bool {
	return len(h.Repositories) == 0 || slices.ContainsFunc(h.Repositories, func(pattern string) bool {
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
	ID         int64  `json:"id"`
	Name       string `json:"name,omitempty"`
	Repository string `json:"repository,omitempty"`
	Revision   string `json:"revision,omitempty"`
	Submitter  string `json:"submitter"`
	State      State  `json:"state"`
	Cases      int    `json:"cases"`
	Tried      int    `json:"tried"`
	Faults     int    `json:"faults"`
	// Yours, NotYours and Open count the answers of the alibi. Failures without a label and faults are open, too.
	Yours    int `json:"yours"`
	NotYours int `json:"not_yours"`
	Open     int `json:"open"`
	// Failures are at most HookFailures, first those that are yours, then the open ones.
	Failures []HookFailure `json:"failures"`
}

// HookFailures is how many failures an event has at most.
const HookFailures = 20

// HookFailure is a failure of a docket. Texts are at most a kibibyte.
type HookFailure struct {
	Trial      TrialID `json:"trial"`
	Case       string  `json:"case"`
	Subject    string  `json:"subject,omitempty"`
	About      string  `json:"about,omitempty"`
	Verdict    string  `json:"verdict,omitempty"` // yours, not yours or open; empty for a label of the court
	Label      string  `json:"label,omitempty"`
	LabelName  string  `json:"label_name,omitempty"`
	Confidence float64 `json:"confidence"`
	Culprit    string  `json:"culprit,omitempty"` // commit
}

// HookCorrection is a correction, as far as it is about one repository.
type HookCorrection struct {
	ID         int64     `json:"id"`
	Label      string    `json:"label"`
	Author     string    `json:"author"`
	Undone     bool      `json:"undone"` // by the author
	Repository string    `json:"repository,omitempty"`
	Trials     int       `json:"trials"`
	First      []TrialID `json:"first_trials"` // at most HookFailures
}

// HookGeneration is a generation that was put in force.
type HookGeneration struct {
	ID     int64  `json:"id"`
	Author string `json:"author"`
	Note   string `json:"note,omitempty"`
}

// DeliveryState says how far a delivery is.
type DeliveryState string

// The states of deliveries.
const (
	DeliveryPending DeliveryState = "pending"
	DeliverySending DeliveryState = "sending"
	Delivered       DeliveryState = "delivered"
	DeliveryDead    DeliveryState = "dead"
)

// Delivery is an event on its way to a webhook.
type Delivery struct {
	ID      int64         `json:"id" minimum:"1" doc:"ID of the delivery"`
	Message string        `json:"message" doc:"ID of the message in the header webhook-id, the same in all attempts"`
	Hook    string        `json:"webhook" doc:"Name of the webhook"`
	Event   HookEventType `json:"event" doc:"What happened"`
	State   DeliveryState `json:"state" enum:"pending,sending,delivered,dead" doc:"dead: it is not tried any more"`
	Attempt int           `json:"attempts" minimum:"0" doc:"Attempts since it was stored, or last redelivered"`
	Status  int           `json:"status,omitempty" doc:"HTTP status of the last attempt; absent without an answer"`
	Answer  string        `json:"answer,omitempty" doc:"Why the last attempt failed, with a short excerpt of the answer"`
	Created time.Time     `json:"created" doc:"When it happened"`
	Due     time.Time     `json:"due,omitzero" doc:"When it is tried next"`
	Sent    time.Time     `json:"sent,omitzero" doc:"When the last attempt began"`

	// What is the event, in JSON.
	What HookEvent `json:"-"`
}

// SetWebhooks says which webhooks there are: events are stored for these from now on, in every process. What waits for others is dead.
func (s *Store) SetWebhooks(ctx context.Context, hooks []Webhook) error {
	return s.write(ctx, func(t *tx) error {
		t.run(ctx, `DELETE FROM webhooks`)
		for i := range hooks {
			h := &hooks[i]
			t.run(ctx, `INSERT INTO webhooks (name, events, repositories) VALUES ($1, $2, $3)`, h.Name, object(h.Events), list(h.Repositories))
		}
		t.run(ctx, `UPDATE webhook_deliveries SET state = 'dead', answer = 'the webhook was removed', finished = $1
			WHERE state IN ('pending', 'sending') AND NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.name = webhook_deliveries.hook)`, s.now())
		return nil
	})
}

// Webhooks lists the webhooks by name, with the number of their deliveries.
func (s *Store) Webhooks(ctx context.Context) ([]Webhook, error) {
	return rowsOf(ctx, s.db, `SELECT name, events, repositories,
			(SELECT count(*) FROM webhook_deliveries d WHERE d.hook = name AND d.state IN ('pending', 'sending')),
			(SELECT count(*) FROM webhook_deliveries d WHERE d.hook = name AND d.state = 'dead')
		FROM webhooks ORDER BY name`, nil, func(scan scanner) (h Webhook, err error) {
		err = scan(&h.Name, encoded{&h.Events}, encoded{&h.Repositories}, &h.Pending, &h.Dead)
		return h, err
	})
}

// hooksFor reads the webhooks that are told of one of some types of events of a repository.
func (t *tx) hooksFor(ctx context.Context, repository string, types ...HookEventType) ([]Webhook, error) {
	all, err := rowsOf(ctx, t, `SELECT name, events, repositories FROM webhooks ORDER BY name`, nil, func(scan scanner) (h Webhook, err error) {
		err = scan(&h.Name, encoded{&h.Events}, encoded{&h.Repositories})
		return h, err
	})
	return slices.DeleteFunc(all, func(h Webhook) bool {
		return !h.wants(repository) || !slices.ContainsFunc(types, func(e HookEventType) bool { return slices.Contains(h.Events, e) })
	}), err
}

// MaxDeliveries is how many deliveries of a webhook may wait, and how many that ended are kept (see [Store.RemoveDeliveries]).
const MaxDeliveries = 10_000

// deliver stores an event for each webhook, of the first type that both name. Where too many wait it is a dead letter at once.
func (t *tx) deliver(ctx context.Context, hooks []Webhook, what HookEvent, types ...HookEventType) error {
	for i := range hooks {
		at := slices.IndexFunc(types, func(e HookEventType) bool { return slices.Contains(hooks[i].Events, e) })
		if at < 0 {
			continue
		}
		what.Type = types[at]
		var waiting int
		if err := one(ctx, t, `SELECT count(*) FROM webhook_deliveries WHERE state = 'pending' AND hook = $1`, []any{hooks[i].Name}, &waiting); err != nil {
			return err
		}
		state, answer, finished := DeliveryPending, "", int64(0)
		if waiting >= MaxDeliveries {
			state, answer, finished = DeliveryDead, "too many messages to this webhook wait", micros(what.Time)
		}
		var id int64
		err := one(ctx, t, `INSERT INTO webhook_deliveries (message, hook, event, body, state, attempt, due, status, answer, created, sent, finished)
			VALUES ($1, $2, $3, $4, $5, 0, $6, 0, $7, $6, 0, $8) RETURNING id`,
			[]any{"msg_" + rand.Text(), hooks[i].Name, string(what.Type), pack([]byte(object(what))), string(state), micros(what.Time), answer, finished}, &id)
		if err == nil && state == DeliveryPending {
			err = t.queueDelivery(ctx, id, hooks[i].Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tellDocket stores that a docket has ended.
func (t *tx) tellDocket(ctx context.Context, id, now int64) error {
	d, err := readDocket(WithoutLimit(ctx), t, id)
	if err != nil {
		return err
	}
	hooks, err := t.hooksFor(ctx, d.Repository, FailureYours, FailureOpen, DocketFinished)
	if err != nil || len(hooks) == 0 {
		return err
	}
	h := &HookDocket{
		ID: d.ID, Name: d.Name, Repository: d.Repository, Revision: d.Revision, Submitter: d.Submitter, State: d.State, Cases: d.Cases, Tried: d.Tried, Faults: d.Faults,
	}
	if err := h.count(ctx, t); err != nil {
		return err
	}
	types := []HookEventType{DocketFinished}
	if h.Open > 0 {
		types = append([]HookEventType{FailureOpen}, types...)
	}
	if h.Yours > 0 {
		types = append([]HookEventType{FailureYours}, types...)
	}
	return t.deliver(ctx, hooks, HookEvent{Time: at(now), Docket: h}, types...)
}

// The conditions of entries that are yours, not yours and open. A column alibi begins with its verdict: see Alibi.
const (
	entryIsYours  = `alibi LIKE '{"verdict":"yours",%'`
	entryNotYours = `alibi LIKE '{"verdict":"not yours",%'`
	entryIsOpen   = `(alibi LIKE '{"verdict":"open",%' OR alibi = '' AND label = '' AND (status <> '' OR fault <> ''))`
)

// count counts the answers, and reads the first failures.
func (h *HookDocket) count(ctx context.Context, t *tx) error {
	if err := one(ctx, t, `SELECT coalesce(sum(CASE WHEN `+entryIsYours+` THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN `+entryNotYours+` THEN 1 ELSE 0 END), 0),
		coalesce(sum(CASE WHEN `+entryIsOpen+` THEN 1 ELSE 0 END), 0) FROM entries WHERE docket = $1`, []any{h.ID}, &h.Yours, &h.NotYours, &h.Open); err != nil {
		return err
	}
	entries, err := rowsOf(ctx, t, `SELECT `+entryColumns+` FROM entries WHERE docket = $1 AND (status <> '' OR fault <> '')
		ORDER BY CASE WHEN `+entryIsYours+` THEN 0 WHEN `+entryIsOpen+` THEN 1 ELSE 2 END, doubt DESC, ordinal LIMIT $2`, []any{h.ID, int64(HookFailures)}, scanEntry)
	h.Failures = make([]HookFailure, len(entries))
	for i := range entries {
		e := &entries[i]
		f := HookFailure{
			Trial: e.ID, Case: e.CaseID, Subject: e.Subject, About: e.About, Label: e.Label, LabelName: text(e.LabelNames[e.Label], maxName), Confidence: e.Confidence,
		}
		switch {
		case e.Alibi != nil:
			f.Verdict = string(e.Alibi.Verdict)
			if e.Alibi.Culprit != nil {
				f.Culprit = text(e.Alibi.Culprit.Commit, maxName)
			}
		case e.Label == "":
			f.Verdict = string(alibi.IsOpen)
		}
		h.Failures[i] = f
	}
	return err
}

// tellCorrection stores that verdicts were corrected, or a correction was undone: an event for each repository.
func (t *tx) tellCorrection(ctx context.Context, c *Correction, author string, undone bool, now int64) error {
	if hooks, err := rowsOf(ctx, t, `SELECT name FROM webhooks`, nil, value[string]); err != nil || len(hooks) == 0 {
		return err
	}
	about := map[string]*HookCorrection{}
	var repositories []string
	if err := each(ctx, t, `SELECT e.repository, e.docket, e.ordinal FROM correction_entries c JOIN entries e ON e.docket = c.docket AND e.ordinal = c.ordinal
		WHERE c.correction = $1 ORDER BY e.repository, e.docket, e.ordinal`, []any{c.ID}, func(scan scanner) error {
		var repository string
		var id TrialID
		if err := scan(&repository, &id.Docket, &id.Ordinal); err != nil {
			return err
		}
		h := about[repository]
		if h == nil {
			h = &HookCorrection{ID: c.ID, Label: c.Label, Author: author, Undone: undone, Repository: repository}
			about[repository] = h
			repositories = append(repositories, repository)
		}
		if h.Trials++; len(h.First) < HookFailures {
			h.First = append(h.First, id)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, repository := range repositories {
		hooks, err := t.hooksFor(ctx, repository, VerdictCorrected)
		if err == nil {
			err = t.deliver(ctx, hooks, HookEvent{Time: at(now), Correction: about[repository]}, VerdictCorrected)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tellGeneration stores that a generation is in force. It is about all repositories, and so for every webhook that names the event.
func (t *tx) tellGeneration(ctx context.Context, g *Generation, author string, now int64) error {
	hooks, err := rowsOf(ctx, t, `SELECT name, events FROM webhooks ORDER BY name`, nil, func(scan scanner) (h Webhook, err error) {
		err = scan(&h.Name, encoded{&h.Events})
		return h, err
	})
	if err != nil || len(hooks) == 0 {
		return err
	}
	return t.deliver(ctx, hooks, HookEvent{Time: at(now), Generation: &HookGeneration{ID: g.ID, Author: author, Note: text(g.Note, maxName)}}, GenerationActivated)
}
