package casebook_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var day = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func open(t *testing.T, path string) *casebook.Book {
	t.Helper()
	b := must.Get(casebook.Open(t.Context(), path, casebook.Options{Now: func() time.Time { return day }}))(t)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func snapshot(t *testing.T, b *casebook.Book) *casebook.Snapshot {
	t.Helper()
	s := must.Get(b.Snapshot(t.Context()))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func remember(t *testing.T, b *casebook.Book, entries ...casebook.Entry) int {
	t.Helper()
	return must.Get(b.Remember(t.Context(), casebook.Run{Entries: entries}))(t)
}

func entry(id, text, status, label string) casebook.Entry {
	return casebook.Entry{
		CaseID: id, Group: "g", Failure: failure(text),
		Verdict: &casebook.Verdict{Status: status, Classification: label, Confidence: 0.9},
	}
}

func failure(text string) casebook.Failure {
	return casebook.Failure{Subject: "TestX fails in p", Test: "TestX", Texts: []string{text}}
}

const refused = "client_test.go:%d: dial tcp 127.0.0.1:%d: connect: connection refused while the broker was starting"

func TestRecallFindsTheSameFailure(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	remember(t, b, entry("c1", fmt.Sprintf(refused, 12, 4000), "affirmed", "si001"),
		entry("c2", fmt.Sprintf(refused, 99, 5000), "affirmed", "si001"),
		entry("other", "price_test.go:3: the rounded price of a basket differs by a cent", "amended", "pb001"))
	got := recallOf(t, b, said(7))
	want := func(id string) casebook.Match {
		return casebook.Match{
			Case: casebook.Case{
				ID: id, Group: "g", Subject: "TestX fails in p", Seen: 2, LastRun: 1,
				Verdict: casebook.Verdict{Origin: casebook.Decided, Status: "affirmed", Classification: "si001", Confidence: 0.9},
			},
			Confidence: 0.95,
		}
	}
	check.Same(t, cmp.Diff([]casebook.Match{want("c1"), want("c2")}, got))
}

func TestRecallIsLessSure(t *testing.T) {
	t.Parallel()
	base := "client_test.go:9: the broker refused a connection: " + strings.Repeat("alpha beta gamma delta epsilon ", 1)
	tests := []struct {
		name    string
		earlier []casebook.Entry
		ask     string
		lo, hi  float64
	}{
		{"verdicts that disagree", []casebook.Entry{entry("a", base, "affirmed", "x"), entry("b", base, "affirmed", "x"), entry("c", base, "amended", "y")}, base, 0.6, 0.7},
		{"a case without a classification", []casebook.Entry{entry("a", base, "acquitted", "")}, base, 0, 0},
		{"a text that says nothing", []casebook.Entry{entry("a", "--- FAIL: TestX (0.1s)", "affirmed", "x")}, "--- FAIL: TestX (3s)", 0.5, 0.79},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := open(t, filepath.Join(t.TempDir(), "book.db"))
			remember(t, b, tt.earlier...)
			if got := recallOf(t, b, tt.ask); len(got) == 0 || got[0].Confidence < tt.lo || got[0].Confidence > tt.hi {
				t.Errorf("got %+v, want a confidence in [%v, %v]", got, tt.lo, tt.hi)
			}
		})
	}
}

func TestRecallTakesTheLatestVerdictOfACase(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	text := fmt.Sprintf(refused, 1, 1)
	remember(t, b, entry("c", text, "acquitted", ""))
	remember(t, b, entry("c", text, "affirmed", "si001"))
	got := recallOf(t, b, text)
	if len(got) != 1 || got[0].Case.Verdict.Status != "affirmed" || got[0].Case.LastRun != 1 || got[0].Case.Seen != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestRememberAgainChangesNothing(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	one := entry("c1", "first of all failures", "affirmed", "x")
	check.Equal(t, remember(t, b, one, one), 1, "added")
	before := snapshot(t, b)
	unsure := entry("c1", "first of all failures", "affirmed", "x")
	unsure.Verdict.Confidence = 0.1
	check.Equal(t, remember(t, b, one, unsure), 0, "added")
	if after := snapshot(t, b); after.Digest() != before.Digest() || after.Len() != 1 {
		t.Error("remembering the same again changed the book")
	}
	amended := one
	amended.Verdict = &casebook.Verdict{Status: "amended", Classification: "y", Confidence: 0.7}
	check.Equal(t, remember(t, b, amended), 1, "added for another verdict")
}

func many(n int) []casebook.Entry {
	entries := make([]casebook.Entry, n)
	for i := range entries {
		words := []string{"lemon", "grape", "apple", "melon", "peach"}
		text := fmt.Sprintf("fruit_test.go:%d: the %s and the %s are missing\nshared words of all", i, words[i%5], words[i/5%5])
		entries[i] = entry(fmt.Sprintf("c%03d", i), text, "affirmed", fmt.Sprintf("l%d", i%3))
	}
	return entries
}

func TestDigestAndAnswersDoNotDependOnTheOrderOfInsertion(t *testing.T) {
	t.Parallel()
	entries := many(60)
	ask := func(s *casebook.Snapshot) string {
		recalled := must.Get(s.Recall(t.Context(), casebook.Take(entries[7].Failure), 50))(t)
		hits := must.Get(s.Correlate(t.Context(), "the melon and the grape of all", 50))(t)
		return fmt.Sprintf("%s %d %+v %+v", s.Digest(), s.Len(), recalled, hits)
	}
	var want string
	for i := range 4 {
		b := open(t, filepath.Join(t.TempDir(), "book.db"))
		rand.New(rand.NewPCG(1, uint64(i))).Shuffle(len(entries)-8, func(x, y int) { // the one asked for stays
			entries[x+8], entries[y+8] = entries[y+8], entries[x+8]
		})
		remember(t, b, entries...)
		got := ask(snapshot(t, b))
		if want == "" {
			want = got
		}
		check.Equal(t, got, want, "order", i)
	}
	changed := entries
	changed[0].Verdict.Confidence = 0.8
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	remember(t, b, changed...)
	if strings.HasPrefix(want, snapshot(t, b).Digest()) {
		t.Error("another confidence, and the same digest")
	}
}

func TestCorrelateRanksByRareWords(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	remember(t, b, append(many(30), entry("rare", "the zeppelin and the lemon are missing", "affirmed", "x"))...)
	hits, err := snapshot(t, b).Correlate(t.Context(), "Zeppelin near the lemon", 3)
	if err != nil || len(hits) != 3 || hits[0].Case.ID != "rare" || hits[0].Score <= hits[1].Score {
		t.Errorf("got %+v, %v", hits, err)
	}
	if hits[1].Case.ID > hits[2].Case.ID && hits[1].Score == hits[2].Score {
		t.Error("ties are not in the order of IDs")
	}
	hits, err = snapshot(t, b).Correlate(t.Context(), "the zeppelin and the lemon are missing today", 1) // 5 of 6 sequences of three words
	if err != nil || len(hits) != 1 || hits[0].Similarity != 5.0/6 {
		t.Errorf("got %+v, %v", hits, err)
	}
}

func TestCorrelateTakesNoQueries(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	remember(t, b, many(10)...)
	s := snapshot(t, b)
	for _, text := range []string{
		`"`, `lemon" OR "grape`, `lemon*`, `^lemon`, `subject:lemon`, `NEAR(lemon grape, 2)`, `lemon AND NOT grape`,
		`(lemon`, `-lemon`, "lemon\x00grape", "'; DROP TABLE cases; --", "\xff\xfe lemon", strings.Repeat("lemon ", 1<<16),
		strings.Repeat("\"(*", 1<<12), strings.Repeat("x", 1<<21), "",
	} {
		hits := must.Get(s.Correlate(t.Context(), text, 5))(t, text)
		if strings.Contains(text, "lemon") && len(hits) == 0 {
			t.Errorf("%.40q: no hits", text)
		}
	}
	if hits, err := s.Correlate(t.Context(), "lemon", 1<<30); err != nil || len(hits) > 50 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
}

func TestSnapshotStaysAsItIs(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	remember(t, b, many(5)...)
	s := snapshot(t, b)
	digest := s.Digest()
	remember(t, b, many(20)...)
	must.Do(t, b.Close())
	hits, err := s.Correlate(t.Context(), "missing fruit", 50)
	if err != nil || len(hits) != 5 || s.Len() != 5 || s.Digest() != digest {
		t.Errorf("%d hits, %d cases, %v", len(hits), s.Len(), err)
	}
}

func TestACallThatFailsRemembersNothing(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	nan := entry("c", "t", "affirmed", "x")
	nan.Verdict.Confidence = math.NaN()
	for name, bad := range map[string]casebook.Entry{
		"no ID": entry("", "t", "affirmed", "x"), "no status": entry("c", "t", "", "x"), "NaN": nan,
		"long": entry(strings.Repeat("x", 2000), "t", "affirmed", "x"), "no text": entry("c\xff", "t", "affirmed", "x"),
	} {
		if _, err := b.Remember(t.Context(), casebook.Run{Entries: []casebook.Entry{entry("good", "t", "affirmed", "x"), bad}}); !errors.Is(err, casebook.ErrEntry) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(b.Remember(ctx, casebook.Run{Entries: many(3)})), context.Canceled)
	if s := snapshot(t, b); s.Len() != 0 {
		t.Errorf("%d cases after calls that failed", s.Len())
	}
}

func TestFilesThatAreNoCasebook(t *testing.T) {
	t.Parallel()
	prepare := func(statements ...string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			db := must.Get(sql.Open("sqlite", path))(t)
			defer db.Close()
			for _, s := range statements {
				must.Get(db.ExecContext(t.Context(), s))(t)
			}
		}
	}
	made := func(then func(*testing.T, string)) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			b := open(t, path)
			remember(t, b, many(40)...)
			must.Do(t, b.Close())
			then(t, path)
		}
	}
	write := func(at int64, text string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			file := must.Get(os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600))(t)
			defer file.Close()
			must.Get(file.WriteAt([]byte(text), at))(t)
		}
	}
	for _, tt := range []struct {
		name string
		make func(*testing.T, string)
		want error
	}{
		{"newer", made(prepare("PRAGMA user_version = 99")), casebook.ErrNewer},
		{"the version before, with these tables", made(prepare("PRAGMA user_version = 1")), casebook.ErrCorrupt},
		{"another program's", prepare("CREATE TABLE t (x)"), casebook.ErrNotCasebook},
		{"text", write(0, strings.Repeat("not a database\n", 100)), casebook.ErrNotCasebook},
		{"a trigger", made(prepare("CREATE TRIGGER words_x AFTER INSERT ON cases BEGIN SELECT 1; END")), casebook.ErrCorrupt},
		{"a table less", made(prepare("DROP TABLE suites")), casebook.ErrCorrupt},
		{"overwritten pages", made(write(3*4096, strings.Repeat("\xff", 40*4096))), casebook.ErrCorrupt},
		{"a confidence of 7", made(prepare("UPDATE cases SET confidence = 7 WHERE id = 3")), casebook.ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "book.db")
			tt.make(t, path)
			s, err := casebook.OpenReadOnly(t.Context(), path, casebook.Options{})
			check.Is(t, err, tt.want, "read only")
			if err == nil {
				_ = s.Close()
			} else if !strings.Contains(err.Error(), path) {
				t.Errorf("%v does not name the file", err)
			}
			b, err := casebook.Open(t.Context(), path, casebook.Options{})
			if err == nil {
				_, err = b.Snapshot(t.Context())
				_ = b.Close()
			}
			check.Is(t, err, tt.want)
		})
	}
	check.Is(t, check.Err(casebook.OpenReadOnly(t.Context(), filepath.Join(t.TempDir(), "none"), casebook.Options{})), fs.ErrNotExist)
}

// Version 1 had two columns, an index and a table more. Its books are read as they are, and upgraded where they are written.
func TestBooksOfVersion1KeepTheirCases(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "book.db")
	b := open(t, path)
	remember(t, b, many(40)...)
	want := snapshot(t, b)
	must.Do(t, b.Close())
	db := must.Get(sql.Open("sqlite", path))(t)
	var table string
	must.Do(t, db.QueryRowContext(t.Context(), "SELECT sql FROM sqlite_schema WHERE name = 'cases'").Scan(&table))
	const columns = "id, case_id, exact, grp, subject, status, classification, confidence, origin, first_run, turn, remembered, body"
	for _, statement := range []string{
		"ALTER TABLE cases RENAME TO newer", strings.Replace(table, "\tgrp", "\tloose TEXT NOT NULL,\n\tsketch BLOB NOT NULL,\n\tgrp", 1),
		"INSERT INTO cases (" + columns + ", loose, sketch) SELECT " + columns + ", 'l' || id, x'01' FROM newer", "DROP TABLE newer",
		"CREATE INDEX cases_exact ON cases (exact)", "CREATE INDEX cases_loose ON cases (loose)",
		"CREATE TABLE found_by (band INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (band, id)) STRICT, WITHOUT ROWID", "PRAGMA user_version = 1",
	} {
		must.Get(db.ExecContext(t.Context(), statement))(t)
	}
	must.Do(t, db.Close())
	same := func(s *casebook.Snapshot) {
		t.Helper()
		hits := must.Get(s.Correlate(t.Context(), "the lemon and the grape are missing", 50))(t)
		if again := must.Get(want.Correlate(t.Context(), "the lemon and the grape are missing", 50))(t); s.Digest() != want.Digest() || len(hits) == 0 || !reflect.DeepEqual(hits, again) {
			t.Errorf("%s with %d hits, want %s with %d", s.Digest(), len(hits), want.Digest(), len(again))
		}
	}
	s := must.Get(casebook.OpenReadOnly(t.Context(), path, casebook.Options{}))(t)
	defer func() { _ = s.Close() }()
	same(s)
	for range 2 { // upgraded, and opened again
		b = open(t, path)
		same(snapshot(t, b))
		must.Do(t, b.Close())
	}
	b = open(t, path)
	check.Equal(t, remember(t, b, entry("later", "a new failure", "affirmed", "l1")), 1, "nothing is remembered")
}

func TestOddFileNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a ?mode=memory#b%20 c.db")
	remember(t, open(t, path), many(2)...)
	s := must.Get(casebook.OpenReadOnly(t.Context(), path, casebook.Options{}))(t)
	defer s.Close()
	check.Equal(t, s.Len(), 2, "cases")
}

func TestProgramsShareABook(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "book.db")
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			b, err := casebook.Open(context.Background(), path, casebook.Options{BusyTimeout: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			defer b.Close()
			for _, e := range many(12)[i*2 : i*2+6] { // they overlap
				if _, err := b.Remember(context.Background(), casebook.Run{Entries: []casebook.Entry{e}}); err != nil {
					t.Error(err)
				}
			}
			s, err := b.Snapshot(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Correlate(context.Background(), "missing fruit", 5); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if s := snapshot(t, open(t, path)); s.Len() != 12 {
		t.Errorf("%d cases, want 12", s.Len())
	}
}

func TestABookThatSomebodyHoldsIsBusy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "book.db")
	open(t, path)
	db := must.Get(sql.Open("sqlite", path))(t)
	defer db.Close()
	db.SetMaxOpenConns(1)
	must.Get(db.ExecContext(t.Context(), "BEGIN IMMEDIATE"))(t)
	b := must.Get(casebook.Open(t.Context(), path, casebook.Options{BusyTimeout: time.Millisecond}))(t)
	defer b.Close()
	check.Is(t, check.Err(b.Remember(t.Context(), casebook.Run{Entries: many(1)})), casebook.ErrBusy)
}

// seen remembers a run of the suite "g" with one failure, "" for none.
func seen(t *testing.T, b *casebook.Book, text string, verdict *casebook.Verdict) {
	t.Helper()
	run := casebook.Run{Suites: []string{"g"}}
	if text != "" {
		run.Entries = []casebook.Entry{{CaseID: "c", Group: "g", Failure: failure(text), Verdict: verdict}}
	}
	must.Get(b.Remember(t.Context(), run))(t)
}

func decided(confidence float64) *casebook.Verdict {
	return &casebook.Verdict{Status: "affirmed", Classification: "x", Confidence: confidence}
}

func confirmed(label string) *casebook.Verdict {
	return &casebook.Verdict{Origin: casebook.Confirmed, Status: "confirmed", Classification: label, Confidence: 0.3}
}

func recallOf(t *testing.T, b *casebook.Book, text string) []casebook.Match {
	t.Helper()
	return must.Get(snapshot(t, b).Recall(t.Context(), casebook.Take(failure(text)), 10))(t)
}

// The words that a run writes differ from those of the next only in figures.
func said(run int) string { return fmt.Sprintf(refused, run, 4000+run) }

// However often a machine repeats its verdict, and however sure it becomes of it, it stays as sure as it was at first.
func TestRepetitionMakesNoVerdictSurer(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	for run, confidence := range []float64{0.7, 0.8, 0.9} {
		seen(t, b, said(run), decided(confidence))
	}
	again := casebook.Entry{CaseID: "another", Group: "g", Failure: failure(said(8)), Verdict: decided(0.99)}
	remember(t, b, again)
	got := recallOf(t, b, said(9))
	if len(got) != 2 || got[0].Case.Verdict.Confidence != 0.7 || got[1].Case.Verdict.Confidence != 0.7 || got[0].Case.Seen != 4 {
		t.Errorf("got %+v", got)
	}
}

// What somebody knows outweighs what machines decided of the same failure, however often they did.
func TestAConfirmedVerdictOutweighsDecidedOnes(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	for run := range 3 {
		seen(t, b, said(run), decided(0.9))
	}
	remember(t, b, casebook.Entry{CaseID: "known", Group: "g", Failure: failure(said(3)), Verdict: confirmed("y")})
	seen(t, b, said(4), decided(0.9))
	got := recallOf(t, b, said(9))
	if len(got) != 2 || got[0].Case.ID != "known" || got[0].Case.Verdict.Origin != casebook.Confirmed || got[0].Confidence != 0.95 || got[1].Confidence != 0 {
		t.Errorf("got %+v", got)
	}
	// The case itself may be the one that somebody corrected.
	seen(t, b, said(5), confirmed("z"))
	got = recallOf(t, b, said(9))
	if len(got) != 2 || got[0].Case.Verdict.Classification != "z" && got[1].Case.Verdict.Classification != "z" || math.Abs(got[0].Confidence-0.475) > 1e-9 {
		t.Errorf("got %+v", got)
	}
}

// A green run changes answers, so it changes the digest, too.
func TestRunsTellWhatWasAway(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	expect := func(when string, want int) {
		t.Helper()
		if got := recallOf(t, b, said(99)); len(got) != 1 || got[0].Case.Absent != want {
			t.Errorf("%s: got %+v, want absent %d", when, got, want)
		}
	}
	seen(t, b, said(1), decided(0.9))
	expect("seen once", 0)
	must.Get(b.Remember(t.Context(), casebook.Run{Suites: []string{"another"}}))(t)
	expect("another suite was run", 0)
	before := snapshot(t, b).Digest()
	seen(t, b, "", nil)
	expect("its suite was green", 1)
	if snapshot(t, b).Digest() == before {
		t.Error("a green run changes answers, and not the digest")
	}
	seen(t, b, "order_test.go:4: something else fails in its suite", decided(0.9))
	expect("its suite failed otherwise", 2)
	seen(t, b, said(2), nil)
	expect("back, and nothing was decided", 0)
	seen(t, b, "", nil)
	expect("away again", 1)
	seen(t, b, said(3), decided(0.9))
	expect("back", 0)
}

// A run that is remembered twice in a row is one; what was in it once may come back later.
func TestTheSameRunIsOne(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	counts := func() [2]int {
		t.Helper()
		c := recallOf(t, b, said(1))[0].Case
		return [2]int{c.Seen, c.LastRun}
	}
	for _, step := range []struct {
		text    string
		verdict *casebook.Verdict
		want    [2]int
	}{
		{said(1), nil, [2]int{}},
		{said(1), decided(0.8), [2]int{1, 1}},
		{said(1), confirmed("x"), [2]int{1, 1}},
		{said(2), decided(0.8), [2]int{2, 2}},
		{"", nil, [2]int{2, 2}},
		{said(2), decided(0.8), [2]int{3, 4}},
	} {
		seen(t, b, step.text, step.verdict)
		if step.want[0] > 0 && counts() != step.want {
			t.Errorf("%+v: seen, last run %v", step, counts())
		}
	}
}
