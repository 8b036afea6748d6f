package mutate

import (
	"fmt"
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
	mu.Unlock()
	return "hello"
}

func open(name string) (bool, error) {
	ok, err := look(name, []int{1, 2})
	if err != nil {
		return true, err
	}
	return ok, nil
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

var words = []string{"one", "two"}

func helper() string { return "three" }

func TestB(t *testing.T) {
	defer helper()
	for range []int{1, 2} { helper() }
	x := 0
	if x == 7 { helper() }
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
	tests := []struct {
		file string
		find func(*Source)
		want []string
	}{
		{"p.go", Defects, []string{
			"swap operator", "negate condition", "never true", "always true", "off by one", "nil pointer", "return early",
			"drop statement", "do it twice", "swap statements", "change number", "zero for number", "change text",
			"wrong case", "flip boolean", "swap arguments", "drop element", "ignore error", "lose the error",
		}},
		{"p.go", Chances(ByNumber, 10), []string{"return early", "negate condition", "never true", "always true", "drop statement", "do it twice", "flip boolean"}},
		{"p.go", Chances(ByTime, 10), []string{"return early"}},
		{"p.go", Chances(ByMap, 10), []string{"return early"}},
		{"p.go", Chances(ByRoutines, 10), []string{"don't wait"}},
		{"p_test.go", Flakes, []string{
			"don't wait", "lose synchronisation", "lose cleanup", "too short a time", "run side by side", "now and then",
			"random number", "random text in helper", "random order",
		}},
		{"p_test.go", Defects, []string{"drop element in table", "change text in helper", "swap operator"}},
	}
	for _, test := range tests {
		found, err := Find(root, []string{test.file}, test.find)
		if err != nil {
			t.Fatal(err)
		}
		for _, operator := range test.want {
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

func applyAndUndo(t *testing.T, root string, s Site) {
	t.Helper()
	path := filepath.Join(root, s.File)
	before := read(t, path)
	undo, err := s.Apply(root)
	if err != nil {
		t.Fatal(err)
	}
	after := read(t, path)
	if after == before {
		t.Errorf("%+v changes nothing", s)
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
		found, err := Find(root, []string{"p.go"}, Defects)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		var b strings.Builder
		seen := map[string]bool{}
		alike := func(string) float64 { return 1 }
		for s, ok := found.Pick(rng, alike); ok; s, ok = found.Pick(rng, alike) {
			key := fmt.Sprintf("%+v", s)
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
