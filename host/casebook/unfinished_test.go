package casebook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// unfinished gives a book with three cases, as it is when its program is killed, or the power lost, in the middle of a transaction.
func unfinished(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "book.db")
	b, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	var entries []Entry
	for i := range 3 {
		id := fmt.Sprint("case ", i)
		entries = append(entries, Entry{
			CaseID: id, Failure: Failure{Subject: id, Texts: []string{id}},
			Verdict: &Verdict{Status: "affirmed", Classification: "x", Confidence: 0.9},
		})
	}
	if _, err := b.Remember(t.Context(), Run{Entries: entries}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.db.ExecContext(t.Context(), "PRAGMA cache_size = 1"); err != nil { // so that pages are written before the end
		t.Fatal(err)
	}
	tx, err := b.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	for i := range 100 {
		if _, err := tx.ExecContext(context.Background(), `INSERT INTO sightings VALUES (?, 2, ?)`, strconv.Itoa(i), strings.Repeat("x", 1000)); err != nil {
			t.Fatal(err)
		}
	}
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(killed, "book.db")
	if _, err := os.Stat(path + "-journal"); err != nil {
		t.Fatal(err)
	}
	return path
}

// What was remembered before is read, by programs that only read, too.
func TestAccept_FZ10_AnUnfinishedBookIsRead(t *testing.T) {
	t.Parallel()
	path := unfinished(t)
	s, err := OpenReadOnly(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil || s.Len() != 3 {
		t.Errorf("%d cases, %v", s.Len(), err)
	}
	if _, err := os.Stat(path + "-journal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the change is not rolled back: %v", err)
	}
}

// The error says what to do with a book that can't be written.
func TestAnUnfinishedBookThatIsReadOnly(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root can write any file")
	}
	path := unfinished(t)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenReadOnly(t.Context(), path, Options{}); !errors.Is(err, ErrUnfinished) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}
