package main

import (
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = `package p

import "sync"

type T struct{ n []int }

func (t *T) Get(i int) (int, error) {
	if i < len(t.n) && i >= 0 {
		return t.n[i], nil
	}
	t.n = t.n[1:3]
	return 7, nil
}

func text(mu *sync.Mutex) string {
	mu.Lock()
	return "hello"
}
`

const sampleTest = `package p

import ("testing"; "time")

func TestA(t *testing.T) {
	done := make(chan bool)
	x := 0
	go func() { x = 1; close(done) }()
	<-done
	time.Sleep(time.Millisecond)
	if x != 1 { t.Fatal(x) }
}

func TestB(t *testing.T) {
	x := 0
	x = 2
	_ = x
}
`

func sampleModule(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"p.go": sample, "p_test.go": sampleTest} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestSitesParse applies every site by itself: each must give Go that parses, differ, and be undone.
func TestSitesParse(t *testing.T) {
	t.Parallel()
	root := sampleModule(t)
	want := map[bool][]string{
		false: {"swap operator", "negate condition", "off by one", "nil pointer", "return early", "drop statement", "change number", "change text"},
		true:  {"don't wait", "lose synchronisation", "too short a time", "run side by side"},
	}
	for test, find := range map[bool]func(*source){false: defects, true: flakes} {
		found, err := findSites(root, []string{"."}, test, find)
		if err != nil {
			t.Fatal(err)
		}
		for _, operator := range want[test] {
			if len(found[operator]) == 0 {
				t.Errorf("no site for %q", operator)
			}
		}
		for _, list := range found {
			for _, s := range list {
				applyAndUndo(t, root, s)
			}
		}
	}
}

func applyAndUndo(t *testing.T, root string, s site) {
	t.Helper()
	path := filepath.Join(root, s.file)
	before := read(t, path)
	undo, err := s.apply(root)
	if err != nil {
		t.Fatal(err)
	}
	after := read(t, path)
	if after == before {
		t.Errorf("%v changes nothing", s)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), path, after, 0); err != nil {
		t.Errorf("%v does not parse: %v\n%s", s, err, after)
	}
	if strings.Count(after, "\n") != strings.Count(before, "\n") {
		t.Errorf("%v moves the lines", s)
	}
	if err := undo(); err != nil || read(t, path) != before {
		t.Errorf("%v is not undone: %v", s, err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPickIsDecidedByTheSeed(t *testing.T) {
	t.Parallel()
	root := sampleModule(t)
	draw := func(seed uint64) string {
		found, err := findSites(root, []string{"."}, false, defects)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		var b strings.Builder
		seen := map[string]bool{}
		for s, ok := found.pick(rng); ok; s, ok = found.pick(rng) {
			key := s.String() + s.text + "@" + string(rune('0'+s.start))
			if seen[key] {
				t.Errorf("%v is drawn twice", s)
			}
			seen[key] = true
			b.WriteString(key + "\n")
		}
		return b.String()
	}
	if first := draw(1); first != draw(1) {
		t.Error("the same seed draws other sites")
	}
	if draw(1) == draw(2) {
		t.Error("another seed draws the same sites")
	}
}
