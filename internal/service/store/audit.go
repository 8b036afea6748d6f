package store

import (
	"context"
	"time"
)

// Action is a line of the audit log: who did what to what.
type Action struct {
	ID      int64     `json:"id" minimum:"1" doc:"ID of the line"`
	Time    time.Time `json:"time" doc:"When"`
	Author  string    `json:"author" doc:"Who"`
	Action  string    `json:"action" doc:"Did what" example:"generation.activate"`
	Target  string    `json:"target" doc:"To what" example:"generation 7"`
	Details string    `json:"details,omitempty" doc:"And more of it"`
}

// Log adds a line to the audit log. Its ID and Time are set.
func (s *Store) Log(ctx context.Context, a Action) error {
	return s.change(ctx, `INSERT INTO audit_log (time, author, action, target, details) VALUES ($1, $2, $3, $4, $5)`,
		s.now(), text(a.Author, maxName), text(a.Action, maxName), text(a.Target, maxName), text(a.Details, maxText))
}

// AuditLog lists lines, the latest first, from one on with a smaller id than before (0: all); at most limit, 0 for 100.
func (s *Store) AuditLog(ctx context.Context, before int64, limit int) ([]Action, error) {
	var w where
	w.before(before)
	return rowsOf(ctx, s.db, `SELECT id, time, author, action, target, details FROM audit_log`+w.text()+` ORDER BY id DESC`+w.limit(limit, 100, 1000), w.args,
		func(scan scanner) (a Action, err error) {
			err = scan(&a.ID, moment{&a.Time}, &a.Author, &a.Action, &a.Target, &a.Details)
			return a, err
		})
}
