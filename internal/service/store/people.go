package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Token lets a program or a person use the API. The token itself is not kept, only a hash.
type Token struct {
	ID           int64     `json:"id" minimum:"1" doc:"ID of the token, to revoke it"`
	Name         string    `json:"name" doc:"Name for people"`
	Submitter    string    `json:"submitter" doc:"Whose dockets are submitted with it"`
	Scopes       []string  `json:"scopes" doc:"What it may do"`
	Repositories []string  `json:"repositories,omitempty" doc:"Repositories whose dockets it sees and submits; absent: all"`
	Author       string    `json:"author,omitempty" doc:"Who made it"`
	Created      time.Time `json:"created" doc:"When it was made"`
	Used         time.Time `json:"used,omitzero" doc:"When it was used last, to about a minute"`
	Expires      time.Time `json:"expires,omitzero" doc:"When it ends by itself"`
	Revoked      time.Time `json:"revoked,omitzero" doc:"When it was revoked"`
}

// AddToken keeps a token under its hash. Its ID and Created are set.
func (s *Store) AddToken(ctx context.Context, hash string, t Token) (Token, error) {
	t.Name, t.Submitter, t.Author, t.Created = text(t.Name, maxName), text(t.Submitter, maxName), text(t.Author, maxName), at(s.now())
	err := s.write(ctx, func(w *tx) error {
		return one(ctx, w, `INSERT INTO tokens (hash, name, submitter, scopes, author, created, used, expires, revoked, repositories)
			VALUES ($1, $2, $3, $4, $5, $6, 0, $7, 0, $8) RETURNING id`,
			[]any{hash, t.Name, t.Submitter, strings.Join(t.Scopes, " "), t.Author, micros(t.Created), micros(t.Expires), list(t.Repositories)}, &t.ID)
	})
	return t, err
}

const grantColumns = `id, name, submitter, scopes, author, created, used, expires, revoked, repositories`

func scanToken(scan scanner) (t Token, err error) {
	var scopes string
	err = scan(&t.ID, &t.Name, &t.Submitter, &scopes, &t.Author, moment{&t.Created}, moment{&t.Used}, moment{&t.Expires}, moment{&t.Revoked}, encoded{&t.Repositories})
	t.Scopes = strings.Fields(scopes)
	return t, err
}

// tokenUse is how exactly it is noted when a token was used.
const tokenUse = time.Minute

// Token gives the token with a hash, and notes to the minute that it was used. One that was revoked or has expired is ErrNotFound.
func (s *Store) Token(ctx context.Context, hash string) (Token, error) {
	now := s.now()
	list, err := s.tokens(WithoutLimit(ctx), `WHERE hash = $1 AND revoked = 0 AND (expires = 0 OR expires > $2)`, hash, now)
	t, err := first("token", list, err)
	if err == nil && now-micros(t.Used) > tokenUse.Microseconds() {
		err = s.change(ctx, `UPDATE tokens SET used = $1 WHERE id = $2`, now, t.ID)
	}
	return t, err
}

// within says whether a token can do no more than the limit allows.
func (t *Token) within(ctx context.Context) bool {
	return limitOf(ctx) == nil || len(t.Repositories) > 0 && !slices.ContainsFunc(t.Repositories, func(r string) bool { return !sees(ctx, r) })
}

// Tokens lists all, those included that were revoked, the latest first; at most 1,000.
func (s *Store) Tokens(ctx context.Context) ([]Token, error) {
	return s.tokens(ctx, `ORDER BY id DESC LIMIT 1000`)
}

func (s *Store) tokens(ctx context.Context, which string, args ...any) ([]Token, error) {
	list, err := rowsOf(ctx, s.db, `SELECT `+grantColumns+` FROM tokens `+which, args, scanToken)
	return slices.DeleteFunc(list, func(t Token) bool { return !t.within(ctx) }), err
}

// RevokeToken ends a token at once. One that is not there, or was revoked, is ErrNotFound.
func (s *Store) RevokeToken(ctx context.Context, id int64) error {
	if limitOf(ctx) != nil {
		if list, err := s.tokens(ctx, `WHERE id = $1`, id); err != nil || len(list) == 0 {
			return errors.Join(err, fmt.Errorf("token %d: %w", id, ErrNotFound))
		}
	}
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(ctx, `UPDATE tokens SET revoked = $1 WHERE id = $2 AND revoked = 0`, s.now(), id)
		if err == nil && n == 0 {
			err = fmt.Errorf("token %d: %w", id, ErrNotFound)
		}
		return err
	})
}

// Session is that of a person who signed in with a browser.
type Session struct {
	// Subject names the person for good, Name is to be shown.
	Subject, Name string
	Scopes        []string
	// Data is the caller's, such as a secret against forged requests.
	Data                   string
	Created, Used, Expires time.Time
}

// AddSession keeps a session under a hash of its secret, and removes those that have expired.
func (s *Store) AddSession(ctx context.Context, hash string, n Session) error {
	return s.write(ctx, func(t *tx) error {
		now := s.now()
		t.run(ctx, `DELETE FROM sessions WHERE expires <= $1`, now)
		t.run(ctx, `INSERT INTO sessions (hash, subject, name, scopes, data, created, used, expires) VALUES ($1, $2, $3, $4, $5, $6, $6, $7)`,
			hash, text(n.Subject, maxName), text(n.Name, maxName), strings.Join(n.Scopes, " "), n.Data, now, micros(n.Expires))
		return nil
	})
}

// Session gives the session with a hash; ErrNotFound where there is none, or it has expired.
func (s *Store) Session(ctx context.Context, hash string) (Session, error) {
	var n Session
	var scopes string
	if err := one(ctx, s.db, `SELECT subject, name, scopes, data, created, used, expires FROM sessions WHERE hash = $1 AND expires > $2`,
		[]any{hash, s.now()}, &n.Subject, &n.Name, &scopes, &n.Data, moment{&n.Created}, moment{&n.Used}, moment{&n.Expires}); err != nil {
		return n, fmt.Errorf("session: %w", err)
	}
	n.Scopes = strings.Fields(scopes)
	return n, nil
}

// RemoveSession ends a session.
func (s *Store) RemoveSession(ctx context.Context, hash string) error {
	return s.change(ctx, `DELETE FROM sessions WHERE hash = $1`, hash)
}

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
