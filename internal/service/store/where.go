package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type withinKey struct{}

// Within limits what is read and changed with a context to dockets of some repositories; none are no limit. What belongs to another
// docket is ErrNotFound, and is in no list and no count. It is for requests: workers see all.
func Within(ctx context.Context, repositories []string) context.Context {
	if len(repositories) == 0 {
		return ctx
	}
	return context.WithValue(ctx, withinKey{}, slices.Clone(repositories))
}

// WithoutLimit takes the limit of a context away.
func WithoutLimit(ctx context.Context) context.Context {
	return context.WithValue(ctx, withinKey{}, nil)
}

// limitOf is what Within said, nil for no limit.
func limitOf(ctx context.Context) []string {
	repositories, _ := ctx.Value(withinKey{}).([]string)
	return repositories
}

// sees says whether a docket of a repository is within the limit.
func sees(ctx context.Context, repository string) bool {
	within := limitOf(ctx)
	return within == nil || slices.Contains(within, repository)
}

// within adds the limit as a condition on a column with the repository.
func (w *where) within(ctx context.Context, column string) {
	w.withinThe(ctx, column+` IN (`, `)`)
}

// withinThe adds the limit as a condition around its placeholders.
func (w *where) withinThe(ctx context.Context, before, after string) {
	repositories := limitOf(ctx)
	if repositories == nil {
		return
	}
	w.add(before+strings.TrimSuffix(strings.Repeat("?, ", len(repositories)), ", ")+after, anys(repositories)...)
}

// tallies adds the limit as a condition on the table tallies.
func (w *where) tallies(ctx context.Context) {
	w.withinThe(ctx, `docket IN (SELECT id FROM dockets WHERE repository IN (`, `))`)
}

// checkUndo rejects that a correction is undone which is also about trials beyond the limit.
func (t *tx) checkUndo(ctx context.Context, id int64) error {
	if limitOf(ctx) == nil {
		return nil
	}
	count := func(in bool) (n int64, err error) {
		var w where
		w.add("ce.correction = ?", id)
		if in {
			w.within(ctx, "d.repository")
		}
		err = one(ctx, t, `SELECT count(*) FROM correction_entries ce JOIN dockets d ON d.id = ce.docket`+w.text(), w.args, &n)
		return n, err
	}
	all, err := count(false)
	if err != nil {
		return err
	}
	own, err := count(true)
	switch {
	case err != nil:
		return err
	case own == 0:
		return fmt.Errorf("correction %d: %w", id, ErrNotFound)
	case own < all:
		return fmt.Errorf("correction %d is about trials of other repositories, too: %w", id, ErrState)
	}
	return nil
}

// where builds a condition. Each ? is the next placeholder.
type where struct {
	parts []string
	args  []any
}

func (w *where) add(condition string, args ...any) {
	for _, a := range args {
		w.args = append(w.args, a)
		condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(w.args)), 1)
	}
	w.parts = append(w.parts, condition)
}

// equal compares a column unless the value is empty.
func (w *where) equal(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}

// before selects what has a smaller id, as the page behind one does; 0 selects all.
func (w *where) before(id int64) {
	if id > 0 {
		w.add("id < ?", id)
	}
}

// in compares a column with a list that is not empty.
func (w *where) in(column string, list []any) {
	w.add(column+" IN ("+strings.TrimSuffix(strings.Repeat("?, ", len(list)), ", ")+")", list...)
}

// contains looks for a text in a lower-case expression.
func (w *where) contains(d *database, expression, value string) {
	w.add(d.position()+"("+expression+", ?) > 0", strings.ToLower(text(value, maxName)))
}

func (w *where) text() string {
	if len(w.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.parts, " AND ")
}

// limit is the end of a query, with a bound on what was asked for.
func (w *where) limit(n, byDefault, most int) string {
	if n <= 0 {
		n = byDefault
	}
	return " LIMIT " + strconv.Itoa(min(n, most))
}
