package store

import (
	"context"
	"fmt"
	"slices"
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
	args := make([]any, len(repositories))
	for i, r := range repositories {
		args[i] = r
	}
	w.add(before+strings.TrimSuffix(strings.Repeat("?, ", len(args)), ", ")+after, args...)
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
