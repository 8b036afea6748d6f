package store

import (
	"context"
	"crypto/rand"
	"path"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/shadowcourt/shadowcourt/host/alibi"
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
	Docket `json:",inline"`
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

// tell queues an event for each webhook that wants it, of the first type that both name.
func (t *tx) tell(ctx context.Context, hooks []Webhook, wants func(*Webhook) bool, what HookEvent, types ...HookEventType) error {
	for i := range hooks {
		at := slices.IndexFunc(types, func(e HookEventType) bool { return slices.Contains(hooks[i].Events, e) })
		if at < 0 || !wants(&hooks[i]) {
			continue
		}
		what.Type = types[at]
		if err := t.send(ctx, MessageArgs{Hook: hooks[i].Name, ID: "msg_" + rand.Text(), Event: []byte(object(what))}); err != nil {
			return err
		}
	}
	return nil
}

// tellDocket tells that a docket has ended.
func (t *tx) tellDocket(ctx context.Context, id, now int64) error {
	hooks, err := t.webhooks(ctx)
	if err != nil || len(hooks) == 0 {
		return err
	}
	h := &HookDocket{}
	if h.Docket, err = readDocket(WithoutLimit(ctx), t, id); err == nil {
		err = h.count(ctx, t)
	}
	if err != nil {
		return err
	}
	types := []HookEventType{DocketFinished}
	if h.Open > 0 {
		types = append([]HookEventType{FailureOpen}, types...)
	}
	if h.Yours > 0 {
		types = append([]HookEventType{FailureYours}, types...)
	}
	return t.tell(ctx, hooks, func(w *Webhook) bool { return w.wants(h.Repository) }, HookEvent{Time: at(now), Docket: h}, types...)
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

// tellCorrection tells that verdicts were corrected, or a correction was undone: an event for each repository.
func (t *tx) tellCorrection(ctx context.Context, c *Correction, author string, undone bool, now int64) error {
	hooks, err := t.webhooks(ctx)
	if err != nil || len(hooks) == 0 {
		return err
	}
	var about []*HookCorrection // by repository
	if err := each(ctx, t, `SELECT e.repository, e.docket, e.ordinal FROM correction_entries c JOIN entries e ON e.docket = c.docket AND e.ordinal = c.ordinal
		WHERE c.correction = $1 ORDER BY e.repository, e.docket, e.ordinal`, []any{c.ID}, func(scan scanner) error {
		var repository string
		var id TrialID
		err := scan(&repository, &id.Docket, &id.Ordinal)
		if n := len(about); n == 0 || about[n-1].Repository != repository {
			about = append(about, &HookCorrection{ID: c.ID, Label: c.Label, Author: author, Undone: undone, Repository: repository})
		}
		h := about[len(about)-1]
		if h.Trials++; len(h.First) < HookFailures {
			h.First = append(h.First, id)
		}
		return err
	}); err != nil {
		return err
	}
	for _, h := range about {
		if err := t.tell(ctx, hooks, func(w *Webhook) bool { return w.wants(h.Repository) }, HookEvent{Time: at(now), Correction: h}, VerdictCorrected); err != nil {
			return err
		}
	}
	return nil
}

// tellGeneration tells that a generation is in force. It is about all repositories, and so for every webhook that names the event.
func (t *tx) tellGeneration(ctx context.Context, g *Generation, author string, now int64) error {
	hooks, err := t.webhooks(ctx)
	if err != nil {
		return err
	}
	return t.tell(ctx, hooks, func(*Webhook) bool { return true },
		HookEvent{Time: at(now), Generation: &HookGeneration{ID: g.ID, Author: author, Note: text(g.Note, maxName)}}, GenerationActivated)
}
