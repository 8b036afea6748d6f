package mcp

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// A trial sees the same casebook from its begin to its end, whatever is corrected meanwhile.
func TestATrialKeepsItsSnapshot(t *testing.T) {
	t.Parallel()
	book, err := casebook.Open(t.Context(), t.TempDir()+"/book.db", casebook.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = book.Close() }()
	m, err := NewMemory(t.Context(), book)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	subject := &abi.Case{ID: "shop.TestTotal", Subject: "TestTotal fails", Labels: []string{"pb001"}, Documents: []abi.Document{{Name: "log", Text: "got 1, want 2 in the ledger of nine\n"}}}
	first := m.hold()
	if err := m.remember(t.Context(), run.Entry(subject, &trial.Truth{Classification: "pb001"}, &trial.Final{Status: trial.Affirmed})); err != nil {
		t.Fatal(err)
	}
	second := m.hold()
	defer m.release(second)
	if first.Digest() == second.Digest() {
		t.Error("the digest is that of the book before")
	}
	for _, c := range []struct {
		name string
		want int
		see  func() ([]abi.PriorCase, error)
	}{
		{"begun before", 0, func() ([]abi.PriorCase, error) { return first.Recall(t.Context(), subject, 5) }},
		{"begun after", 1, func() ([]abi.PriorCase, error) { return second.Recall(t.Context(), subject, 5) }},
		{"correlating before", 0, func() ([]abi.PriorCase, error) { return first.Correlate(t.Context(), "the ledger of nine", 5) }},
	} {
		if got, err := c.see(); err != nil || len(got) != c.want {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	m.release(first)
	if _, err := first.Recall(t.Context(), subject, 5); err == nil {
		t.Error("a snapshot that nobody uses is open")
	}
}
