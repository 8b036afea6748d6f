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

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// unfinished gives a book with three cases, as it is when its program is killed, or the power lost, in the middle of a transaction.
func unfinished(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "book.db")
	b := must.Get(Open(t.Context(), path, Options{}))(t)
	t.Cleanup(func() { _ = b.Close() })
	var entries []Entry
	for i := range 3 {
		id := fmt.Sprint("case ", i)
		entries = append(entries, Entry{
			CaseID: id, Failure: Failure{Subject: id, Texts: []string{id}},
			Verdict: &Verdict{Status: "affirmed", Classification: "x", Confidence: 0.9},
		})
	}
	must.Get(b.Remember(t.Context(), Run{Entries: entries}))(t)
	if _, err := b.db.ExecContext(t.Context(), "PRAGMA cache_size = 1"); err != nil { // so that pages are written before the end
		t.Fatal(err)
	}
	tx := must.Get(b.db.BeginTx(t.Context(), nil))(t)
	t.Cleanup(func() { _ = tx.Rollback() })
	for i := range 100 {
		must.Get(tx.ExecContext(context.Background(), `INSERT INTO sightings VALUES (?, 2, ?)`, strconv.Itoa(i), strings.Repeat("x", 1000)))(t)
	}
	killed := t.TempDir()
	must.Do(t, os.CopyFS(killed, os.DirFS(dir)))
	path = filepath.Join(killed, "book.db")
	must.Get(os.Stat(path + "-journal"))(t)
	return path
}

// What was remembered before is read, by programs that only read, too.
func TestAccept_FZ10_AnUnfinishedBookIsRead(t *testing.T) {
	t.Parallel()
	path := unfinished(t)
	s := must.Get(OpenReadOnly(t.Context(), path, Options{}))(t)
	if err := s.Close(); err != nil || s.Len() != 3 {
		t.Errorf("%d cases, %v", s.Len(), err)
	}
	check.Is(t, check.Err(os.Stat(path+"-journal")), os.ErrNotExist, "the change is not rolled back")
}

// The error says what to do with a book that can't be written.
func TestAnUnfinishedBookThatIsReadOnly(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root can write any file")
	}
	path := unfinished(t)
	must.Do(t, os.Chmod(path, 0o400))
	if _, err := OpenReadOnly(t.Context(), path, Options{}); !errors.Is(err, ErrUnfinished) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

// A full disk is named as the cause, and the book stays as it was.
func TestARunForWhichThereIsNoRoom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "book.db")
	b := must.Get(Open(t.Context(), path, Options{}))(t)
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
	must.Do(t, b.db.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages))
	must.Get(b.db.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages+2)))(t)
	_, err := b.Remember(t.Context(), Run{Entries: entries(2, 500)})
	if !errors.Is(err, ErrDisk) || strings.Contains(err.Error(), "rollback") {
		t.Errorf("without room: %v", err)
	}
	must.Get(b.db.ExecContext(t.Context(), "PRAGMA max_page_count = 1000000"))(t)
	var cases int
	if err := b.db.QueryRowContext(t.Context(), "SELECT count(*) FROM cases").Scan(&cases); err != nil || cases != 3 {
		t.Errorf("%d cases, %v", cases, err)
	}
	check.Equal(t, must.Get(b.Remember(t.Context(), Run{Entries: entries(3, 2)}))(t), 2, "with room again")
}

func TestNormalLine(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"plain words stay", "connection refused by peer", "connection refused by peer"},
		{"pointer and offset", "main.go:12 +0x1f2 at 0xc0000d6550", "main.go:# at #"},
		{"frame arguments", "p.F(0xc0000d6550, {0x668f10, 0x80a3c0}, 0x1)", "p.F(#, {#}, #)"},
		{"goroutine", "goroutine 17 [running]:", "goroutine # [running]:"},
		{"duration", "--- FAIL: TestX (1m3.25s)", "--- FAIL: TestX (#)"},
		{"duration in words", "took 12 seconds, then 300ms", "took #, then #"},
		{"RFC 3339", "2026-01-02T03:04:05.678+01:00 down", "# down"},
		{"RFC 1123", "Mon, 02 Jan 2006 15:04:05 GMT down", "# down"},
		{"ANSI C", "at Mon Jan  2 15:04:05 2006: down", "at #: down"},
		{"clock with meridiem", "at 3:04:05 PM down", "at # down"},
		{"UUID", "job 6ba7b810-9dad-11d1-80b4-00c04fd430c8 lost", "job # lost"},
		{"hash", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 bad", "commit # bad"},
		{"address and port", "dial tcp 127.0.0.1:43211: refused", "dial tcp #: refused"},
		{"IPv6 and port", "dial tcp [::1]:8080: refused", "dial tcp #: refused"},
		{"IPv6", "route fe80::1ff:fe23:4567:890a down", "route # down"},
		{"namespaces are no address", "std::vector ad::be::x", "std::vector ad::be::x"},
		{"temporary folder", "open /tmp/TestX3826/001/cfg.yaml: gone", "open <tmp>/cfg.yaml: gone"},
		{"temporary file", "open /tmp/tmpa81xk: gone", "open <tmp>: gone"},
		{"macOS temporary folder", "open /var/folders/zz/zyx_9/T/TestX3826/001/cfg.yaml: gone", "open <tmp>/cfg.yaml: gone"},
		{"Windows temporary folder", `open C:\Users\ann\AppData\Local\Temp\TestX38\001\cfg.yaml: gone`, "open <tmp>/cfg.yaml: gone"},
		{"home", "/home/ann/src/proj/pkg/a_test.go:12: no", "<home>/pkg/a_test.go:#: no"},
		{"home of a runner", "/Users/runner/work/proj/proj/pkg/a_test.go:9: no", "<home>/pkg/a_test.go:#: no"},
		{"Windows home", `C:\Users\ann\proj\pkg\a.py:3: no`, "<home>/pkg/a.py:#: no"},
		{"negative numbers", "got -3, want 4", "got #, want #"},
		{"scientific", "off by 1.5e-05 percent", "off by # percent"},
		{"list", "got [1 2 3]", "got [#]"},
		{"widths are names", "int64 is not int32, sha256", "int64 is not int32, sha256"},
		{"counters in names", "worker12 and worker-7 died", "worker# and worker-# died"},
		{"drawn identifiers", "pod web-7f9c6d5b4-x2x5z lost", "pod web-# lost"},
		{"white space", "a\t\tb   c", "a b c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Line(tt.in); got != tt.want {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}
