package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/mutate"
)

func harvestOf(looks map[string]map[string]int) *harvest {
	h := &harvest{}
	for log, causes := range looks {
		for cause, n := range causes {
			for i := range n {
				l := labelled{
					module:  module{path: fmt.Sprintf("example.com/m%d", i%8), half: fitHalf},
					attempt: &attempt{Fault: fault{Cause: cause, Site: &mutate.Site{}, Kind: fmt.Sprintf("k%d", i%9)}},
					found:   found{Test: fmt.Sprintf("Test%d", i)},
				}
				log := strings.Repeat("x", i+1) + cause + "\n" + log
				l.attempt.Runs = []result{{Failed: []failed{{Test: l.found.Test, Log: log}}}}
				h.cases = append(h.cases, l)
			}
		}
	}
	return h
}

func TestChooseMatchesTheLooks(t *testing.T) {
	t.Parallel()
	plain, nested := "--- FAIL: Test (0.00s)\n", "    --- FAIL: Test/x (0.00s)\n"
	h := harvestOf(map[string]map[string]int{
		plain:  {productBug: 40, automationBug: 30, systemIssue: 20, noDefect: 40},
		nested: {productBug: 6, automationBug: 9, systemIssue: 40, noDefect: 8},
	})
	count := map[string]int{}
	for _, l := range choose(config{seed: 1}, h) {
		_, log, _ := strings.Cut(l.log(), "\n")
		count[l.cause()+" "+log]++
	}
	for _, log := range []string{plain, nested} {
		for _, cause := range causes() {
			if n := count[cause+" "+log]; n == 0 || n != count[systemIssue+" "+log] {
				t.Errorf("%d cases of %s look like %q, %d of %s", n, cause, log, count[systemIssue+" "+log], systemIssue)
			}
		}
	}
}

func TestLooks(t *testing.T) {
	t.Parallel()
	plain := "    a_test.go:1: no\n--- FAIL: TestA (0.00s)\n"
	for text, same := range map[string]bool{
		"    a_test.go:1: another message\n--- FAIL: TestA (1.00s)\n":                            true,
		plain + "panic: no\n\ngoroutine 1 [running]:\nm.A()\n\t/src/m/a.go:7 +0x1\n":             false,
		plain + "WARNING: DATA RACE\nWrite by goroutine 7:\n  m.A()\n      /src/m/a.go:7 +0x1\n": false,
		plain + "    --- FAIL: TestA/x (0.00s)\n":                                                false,
		"    --- FAIL: TestA/x (0.00s)\n":                                                        false,
	} {
		if got := look(text) == look(plain); got != same {
			t.Errorf("%q looks the same: %v", text, got)
		}
	}
}

func TestFoldersOfTheRunAreLeftOut(t *testing.T) {
	t.Parallel()
	log := "    a_test.go:1: open /tmp/TestA12/001/x.txt: no, \"/src/example.com/m/testdata/a.b\", see /etc/hosts and /a/b/c\n" +
		"goroutine 1 [running]:\nexample.com/m.A()\n\t/src/example.com/m/a.go:7 +0x1\n"
	want := "    a_test.go:1: open x.txt: no, \"a.b\", see /etc/hosts and /a/b/c\n" +
		"goroutine 1 [running]:\nexample.com/m.A()\n\t/src/example.com/m/a.go:7 +0x1\n"
	if got := withoutFolders(log); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestRedrawKeepsAllButTheDuration(t *testing.T) {
	t.Parallel()
	log := "    a_test.go:1: took (1.00s)\n--- FAIL: TestA (3.21s)\n    --- PASS: TestA/b (0.10s)\n"
	got := redraw(log, []string{"0.07s"}, 1)
	if want := "    a_test.go:1: took (1.00s)\n--- FAIL: TestA (0.07s)\n    --- PASS: TestA/b (0.07s)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLikenessIgnoresNumbersAndPackage(t *testing.T) {
	t.Parallel()
	if likeness("a/b", "x a/b 17\n") != likeness("c/d", "x  c/d 4") {
		t.Error("logs that differ in numbers are two")
	}
	if likeness("a", "expected 1 got two") == likeness("a", "expected 1 got none") {
		t.Error("logs that differ in words are one")
	}
}
