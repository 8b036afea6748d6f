package casebook

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A disk without room is told as the cause, and the book stays as it was.
func TestARunForWhichThereIsNoRoom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "book.db")
	b, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	entries := func(run, n int) (list []Entry) {
		for i := range n {
			id := fmt.Sprintf("run%d.test%d", run, i)
			list = append(list, Entry{
				CaseID: id, Failure: Failure{Subject: id + " fails", Texts: []string{id + ": " + strings.Repeat("got 1, want 2 ", 20)}},
				Verdict: &Verdict{Status: "affirmed", Classification: "x", Confidence: 0.9},
			})
		}
		return list
	}
	if added, err := b.Remember(t.Context(), Run{Entries: entries(1, 3)}); err != nil || added != 3 {
		t.Fatal(added, err)
	}
	var pages int
	if err := b.db.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := b.db.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages+2)); err != nil {
		t.Fatal(err)
	}
	_, err = b.Remember(t.Context(), Run{Entries: entries(2, 500)})
	if !errors.Is(err, ErrDisk) || strings.Contains(err.Error(), "rollback") {
		t.Errorf("without room: %v", err)
	}
	if _, err := b.db.ExecContext(t.Context(), "PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	var cases int
	if err := b.db.QueryRowContext(t.Context(), "SELECT count(*) FROM cases").Scan(&cases); err != nil || cases != 3 {
		t.Errorf("%d cases, %v", cases, err)
	}
	if added, err := b.Remember(t.Context(), Run{Entries: entries(3, 2)}); err != nil || added != 2 {
		t.Errorf("with room again: %d, %v", added, err)
	}
}
