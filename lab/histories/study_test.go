package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/judge"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

// saved makes a case of a test with a message, and with the runs of head and base. Its truth is what they show.
func saved(t *testing.T, repository string, n int, kind history.Kind, says history.Attribution, message, head, base string) history.Case {
	t.Helper()
	var text strings.Builder
	for _, e := range []map[string]string{
		{"Action": "run"},
		{"Action": "output", "Output": "=== RUN   TestTotal\n"},
		{"Action": "output", "Output": "    total_test.go:12: " + message + "\n"},
		{"Action": "output", "Output": "--- FAIL: TestTotal (0.00s)\n"},
		{"Action": "fail"},
	} {
		e["Package"], e["Test"] = "example.com/shop", "TestTotal"
		line, _ := json.Marshal(e)
		text.Write(append(line, '\n'))
	}
	text.WriteString(`{"Action":"output","Package":"example.com/shop","Output":"FAIL\texample.com/shop\t0.0s\n"}` + "\n" + `{"Action":"fail","Package":"example.com/shop"}` + "\n")
	commit := func(of int) string { return fmt.Sprintf("%040x", 1000*n+of) }
	take := func(from int) []history.Step {
		return []history.Step{{Take: commit(from), Paths: []string{"total.go"}}}
	}
	trees := map[history.Role]history.Tree{history.Base: {Start: commit(1), Commit: commit(1)}, history.Head: {Start: commit(2), Commit: commit(2)}}
	switch kind {
	case history.Regression:
		trees = map[history.Role]history.Tree{history.Base: {Start: commit(2), Commit: commit(2)}, history.Head: {Start: commit(2), Steps: take(1), Commit: commit(3)}}
	case history.RedBase:
		trees = map[history.Role]history.Tree{history.Base: {Start: commit(1), Steps: take(2), Commit: commit(3)}, history.Head: {Start: commit(4), Steps: take(2), Commit: commit(5)}}
	}
	c := history.Case{
		ID: repository + "/" + strings.ReplaceAll(string(kind), " ", "-") + "/" + strconv.Itoa(n), Repository: repository, Kind: kind, Fix: commit(2),
		Failure: history.Report{Runner: "go", Group: "example.com/shop", Test: "TestTotal", Text: text.String()}, Trees: trees,
	}
	for _, role := range []history.Role{history.Head, history.Base} {
		for _, order := range []abi.RunOrder{abi.Alone, abi.OriginalOrder} {
			c.Cells = append(c.Cells, history.Cell{
				Product: role, Tests: role, Environment: abi.OriginalEnvironment, Order: order, Build: 0.5, Wall: 2,
				Runs: map[history.Role]string{history.Head: head, history.Base: base}[role], Test: abi.TestUnchanged,
			})
		}
	}
	var err error
	if c.Truth, err = history.Derive(&c); err != nil || c.Truth.Attribution != says {
		t.Fatalf("%s: %v, %v", c.ID, c.Truth, err)
	}
	return c
}

// The study gives the same page twice, although there is nothing on this machine that could run a test.
func TestAccept_RH3_TheStudyJudgesFromSavedOutcomesToTheSameBytes(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv("GOROOT", filepath.Join(t.TempDir(), "none"))
	folder := t.TempDir()
	for half, names := range map[history.Half][]string{history.Learning: {"a/a"}, history.Reporting: {"b/b", "c/c"}} {
		for _, name := range names {
			r := &history.Repo{Name: name, Half: half, Dropped: map[history.Kind]map[string]int{history.Flaky: {"head never passes": 3}}}
			r.Cases = append(r.Cases,
				saved(t, name, 1, history.Regression, history.Caused, "total is 3, expected 4", "SSSSSSSSSS", "PPPPPPPPPP"),
				saved(t, name, 2, history.RedBase, history.Preexisting, "no such customer", "SSSSSSSSSS", "SSSSSSSSSS"),
				saved(t, name, 3, history.MadeFlaky, history.Caused, "deadline exceeded", "PPSPSSSSSS", "PPPPPPPPPP"),
				saved(t, name, 4, history.Flaky, history.ByChance, "connection reset by peer", "PSPPSPPSPP", "PPSPPSPPSP"),
			)
			if err := history.Save(folder, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	empty, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	bench, err := study.New()
	if err != nil {
		t.Fatal(err)
	}
	defer bench.Close() // compiled modules, which take long
	var pages [2][]byte
	for i := range pages {
		page := filepath.Join(t.TempDir(), "page.md")
		if err := os.WriteFile(page, empty, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := judgeSaved(t.Context(), bench, []string{"-saved", folder, "-page", page, "-tables", filepath.Join(filepath.Dir(page), "tables"), "-cases"}, io.Discard); err != nil {
			t.Fatal(err)
		}
		if pages[i], err = os.ReadFile(page); err != nil {
			t.Fatal(err)
		}
		tables, err := filepath.Glob(filepath.Join(filepath.Dir(page), "tables", "*.csv"))
		if err != nil || len(tables) < 12 {
			t.Fatalf("%d tables, %v", len(tables), err)
		}
		for _, name := range tables {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			pages[i] = append(append(pages[i], filepath.Base(name)+"\n"...), text...)
		}
	}
	if !bytes.Equal(pages[0], pages[1]) {
		t.Error("the second page differs from the first")
	}
	for _, row := range []string{
		"| one rerun of the base | 0 of 4 | 2 of 4 | 0 | ",
		"All cases (8),one rerun of the base,0 of 4 = 0.0 (0.0–49.0; 0.0–0.0),2 of 4 = 50.0 (15.0–85.0),0,0,",
		"All cases (8),\"head five times, base three times\",2 of 4 = 50.0 (15.0–85.0; 50.0–50.0),0 of 4 = 0.0 (0.0–49.0),0,0,",
		"flaky,head never passes,3,6\n",
	} {
		if !bytes.Contains(pages[0], []byte(row)) {
			t.Errorf("the page has no row %s", row)
		}
	}
}

var updateAnswers = flag.Bool("update", false, "write testdata/answers.txt")

// TestAccept_HX3_AnswersOfSavedCasesStay compares what each arm says of each saved case, and the runs of both courts, with what those of
// commit 370f0b16 said; of one repository in eight, and of all with SHADOWCOURT_LONG.
func TestAccept_HX3_AnswersOfSavedCasesStay(t *testing.T) {
	t.Parallel()
	long := os.Getenv("SHADOWCOURT_LONG") != ""
	const golden = "testdata/answers.txt"
	var repos []history.Repo
	for i, repo := range slices.Concat(savedCases(t, history.Learning), savedCases(t, history.Reporting)) {
		if long || i%8 == 0 {
			repos = append(repos, repo)
		}
	}
	bench, err := study.New()
	if err != nil {
		t.Fatal(err)
	}
	defer bench.Close()
	judged, err := judge.Judge(t.Context(), bench, repos)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for i := range judged {
		said[judged[i].Case.ID] = answersOf(&judged[i])
	}
	if *updateAnswers && long {
		var text strings.Builder
		for _, id := range slices.Sorted(maps.Keys(said)) {
			text.WriteString(id + ": " + said[id] + "\n")
		}
		if err := os.WriteFile(golden, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for line := range strings.Lines(string(want)) {
		id, before, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if now, ok := said[id]; ok {
			if compared++; now != before {
				t.Errorf("%s:\n before %s\n now    %s", id, before, now)
			}
		}
	}
	if compared != len(said) || long && compared < 600 {
		t.Errorf("%d of %d cases are in %s", compared, len(said), golden)
	}
}

// answersOf writes what the arms say of a case, with the seconds that they paid for, and what both courts did.
func answersOf(j *judge.Judged) string {
	var b strings.Builder
	for _, arm := range judge.Arms() {
		a := j.Answers[arm]
		fmt.Fprintf(&b, "%s %.3g; ", a.Attribution, a.Seconds)
	}
	for _, court := range []*judge.Trial{&j.Trial, &j.Alibi} {
		fmt.Fprintf(&b, "| %s > %s %.6f, %s", court.Light, court.Label, court.Confidence, court.Conclusion)
		for i := range court.Experiments {
			e := &court.Experiments[i]
			fmt.Fprintf(&b, ", %s %s %s %s %d: %d %d %d", e.Product, e.Tests, e.Environment, e.Order, e.Runs, e.Passed, e.Same, e.Other)
		}
	}
	return b.String()
}
