package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
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
	Number  int64     `json:"number" minimum:"1" doc:"Number of the line, without gaps"`
	Digest  string    `json:"digest" doc:"SHA-256 of the line and of all before it; serve audit verify verifies them"`
}

// chainVersion begins what digests of lines are of.
const chainVersion = "shadowcourt audit log 1"

// digest is the hexadecimal SHA-256 of netstrings (the length in bytes, a colon, the bytes) of the version, the digest of the line before
// (empty for the first), the number, the microseconds since 1970, the author, the action, the target and the details.
func (a *Action) digest(before string) string {
	h := sha256.New()
	for _, field := range []string{
		chainVersion, before, strconv.FormatInt(a.Number, 10), strconv.FormatInt(micros(a.Time), 10), a.Author, a.Action, a.Target, a.Details,
	} {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// chain is the row of the table audit_chain: the end of the log, and the last line that was cut off.
type chain struct {
	number    int64
	digest    string
	cutNumber int64
	cutDigest string
}

// readChain reads the ends of the log. Within a transaction that changes it, lock makes others wait for its end.
func readChain(ctx context.Context, q querier, lock bool) (c chain, err error) {
	query := `SELECT number, digest, cut_number, cut_digest FROM audit_chain`
	if lock { // the row is locked until the transaction ends
		query = `UPDATE audit_chain SET number = number RETURNING number, digest, cut_number, cut_digest`
	}
	err = one(ctx, q, query, nil, &c.number, &c.digest, &c.cutNumber, &c.cutDigest)
	if isNotFound(err) {
		err = errors.New("the database is damaged: the audit log has no end")
	}
	return c, err
}

// Log adds a line to the audit log. Its ID, Time, Number and Digest are set.
func (s *Store) Log(ctx context.Context, a Action) error {
	a.Author, a.Action, a.Target, a.Details = text(a.Author, maxName), text(a.Action, maxName), text(a.Target, maxName), text(a.Details, maxText)
	return s.write(ctx, func(t *tx) error {
		end, err := readChain(ctx, t, true)
		if err != nil {
			return err
		}
		a.Time, a.Number = at(s.now()), end.number+1
		a.Digest = a.digest(end.digest)
		t.run(ctx, `INSERT INTO audit_log (time, author, action, target, details, number, digest) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			micros(a.Time), a.Author, a.Action, a.Target, a.Details, a.Number, a.Digest)
		_, err = t.exec(ctx, `UPDATE audit_chain SET number = $1, digest = $2`, a.Number, a.Digest)
		return err
	})
}

// AuditLog lists lines, the latest first, from one on with a smaller id than before (0: all); at most limit, 0 for 100.
func (s *Store) AuditLog(ctx context.Context, before int64, limit int) ([]Action, error) {
	var w where
	w.before(before)
	return readActions(ctx, s.db, w.text()+` ORDER BY id DESC`+w.limit(limit, 100, 1000), w.args...)
}

func readActions(ctx context.Context, q querier, which string, args ...any) ([]Action, error) {
	return rowsOf(ctx, q, `SELECT id, time, author, action, target, details, number, digest FROM audit_log`+which, args, func(scan scanner) (a Action, err error) {
		err = scan(&a.ID, moment{&a.Time}, &a.Author, &a.Action, &a.Target, &a.Details, &a.Number, &a.Digest)
		return a, err
	})
}

// AuditChain is what was verified of the audit log.
type AuditChain struct {
	// Lines there are, from First to Last; both are 0 for none. Digest is that of the last line.
	Lines, First, Last int64
	Digest             string
	// Cut is the number of the last line that was cut off, 0 for none, and CutDigest its digest.
	Cut       int64
	CutDigest string
	// Has says that a line has the digest that was asked for, or that it is the last one that was cut off.
	Has bool
}

// AuditError names the first line of the audit log that is not as it was written.
type AuditError struct {
	Number int64
	Why    string
}

func (e *AuditError) Error() string {
	return fmt.Sprintf("line %d of the audit log %s", e.Number, e.Why)
}

// auditPage is how many lines are verified at once.
const auditPage = 1000

// VerifyAuditLog verifies the digest of every line, and that none is missing. The error is an *AuditError, or one of the database. digest
// is one that was noted before, to be found again; it may be empty.
func (s *Store) VerifyAuditLog(ctx context.Context, digest string) (AuditChain, error) {
	var v AuditChain
	err := s.db.snapshot(ctx, func(q querier) error {
		end, err := readChain(ctx, q, false)
		if err != nil {
			return err
		}
		v = AuditChain{Last: end.cutNumber, Digest: end.cutDigest, Cut: end.cutNumber, CutDigest: end.cutDigest}
		v.Has = digest != "" && digest == v.CutDigest
		for {
			// By number, and not beyond the last: lines without one, and second ones, are found by the count.
			list, err := readActions(ctx, q, ` WHERE number > $1 ORDER BY number, id LIMIT 1000`, v.Last)
			if err != nil {
				return err
			}
			for i := range list {
				if err := v.add(&list[i], digest); err != nil {
					return err
				}
			}
			if len(list) < auditPage {
				break
			}
		}
		return v.end(ctx, q, &end)
	})
	return v, err
}

// add verifies the next line.
func (v *AuditChain) add(a *Action, wanted string) error {
	switch next := v.Last + 1; {
	case a.Number > next:
		return &AuditError{next, fmt.Sprintf("is missing: line %d comes behind line %d", a.Number, v.Last)}
	case a.Number < next:
		return &AuditError{a.Number, "is there twice"}
	case a.Digest != a.digest(v.Digest):
		return &AuditError{next, fmt.Sprintf("(%s %q by %q) is not as it was written, or the one before it is not", a.Action, a.Target, a.Author)}
	}
	if v.Lines == 0 {
		v.First = a.Number
	}
	v.Lines++
	v.Last, v.Digest = a.Number, a.Digest
	v.Has = v.Has || wanted != "" && a.Digest == wanted
	return nil
}

// end verifies that the last line is the end of the log, and that there are no others.
func (v *AuditChain) end(ctx context.Context, q querier, end *chain) error {
	if v.Last < end.number {
		return &AuditError{v.Last + 1, fmt.Sprintf("is missing: the log ends with line %d", end.number)}
	}
	if v.Last > end.number || v.Digest != end.digest {
		return &AuditError{v.Last, "is not the end of the log"}
	}
	var lines int64
	if err := one(ctx, q, `SELECT count(*) FROM audit_log`, nil, &lines); err != nil {
		return err
	}
	if lines != v.Lines {
		return &AuditError{v.First, fmt.Sprintf("has %d lines before it that are not in the chain", lines-v.Lines)}
	}
	return nil
}

// CutAuditLog removes the lines of before a moment, and keeps number and digest of the last of them, where verifying begins from then on. A
// line stays behind one that stays, whatever its time says.
func (s *Store) CutAuditLog(ctx context.Context, before time.Time) (lines int64, err error) {
	err = s.write(ctx, func(t *tx) error {
		c, err := readChain(ctx, t, true)
		if err != nil {
			return err
		}
		last := c.number
		if err := one(ctx, t, `SELECT coalesce(min(number), $1) - 1 FROM audit_log WHERE time >= $2`, []any{last + 1, micros(before)}, &last); err != nil {
			return err
		}
		if last <= c.cutNumber {
			return nil
		}
		var digest string
		if err := one(ctx, t, `SELECT digest FROM audit_log WHERE number = $1`, []any{last}, &digest); err != nil {
			return fmt.Errorf("line %d of the audit log: %w", last, err)
		}
		if lines, err = t.exec(ctx, `DELETE FROM audit_log WHERE number <= $1`, last); err != nil {
			return err
		}
		_, err = t.exec(ctx, `UPDATE audit_chain SET cut_number = $1, cut_digest = $2`, last, digest)
		return err
	})
	return lines, err
}
