package mutate

import (
	"go/parser"
	"go/token"
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

// TestSitesParse applies every site by itself: each must give Go that parses and differs, with as many lines.
func TestSitesParse(t *testing.T) {
	t.Parallel()
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
		{"p_test.go", Defects, []string{"drop element in table", "change text in helper", "swap operator"}},
	}
	for _, test := range tests {
		text := map[string]string{"p.go": sample, "p_test.go": sampleTest}[test.file]
		found, err := FindInText(test.file, []byte(text), test.find)
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
				applied(t, text, s)
			}
		}
	}
}

func applied(t *testing.T, before string, s Site) {
	t.Helper()
	changed, err := s.Change([]byte(before))
	if err != nil {
		t.Fatal(err)
	}
	after := string(changed)
	if after == before {
		t.Errorf("%+v changes nothing", s)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), s.File, after, 0); err != nil {
		t.Errorf("%v does not parse: %v\n%s", s, err, after)
	}
	if strings.Count(after, "\n") != strings.Count(before, "\n") {
		t.Errorf("%v moves the lines", s)
	}
}
