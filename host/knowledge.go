package host

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Casebook is the memory of earlier cases that modules may ask, where they
// were granted it. It must be safe for concurrent use, and must not change
// while a Host is open on it: the same question has the same answer.
type Casebook interface {
	// Recall gives the cases whose failure looks like that of the case.
	Recall(ctx context.Context, subject *abi.Case, limit int) ([]abi.PriorCase, error)
	// Correlate gives the cases whose text is about the same.
	Correlate(ctx context.Context, text string, limit int) ([]abi.PriorCase, error)
	// Digest of all that it holds.
	Digest() string
}

// Source is the source of the module under test, which modules may ask where
// they were granted it. It must be safe for concurrent use, and must not
// change while a Host is open on it.
type Source interface {
	Source(ctx context.Context, query abi.SourceQuery) (abi.SourceAnswer, error)
	// Digest of all that it holds.
	Digest() string
}
