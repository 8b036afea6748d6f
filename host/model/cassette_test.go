package model_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// The same answers make the same bytes, in whatever order they came, and a cassette can be continued.
func TestCassetteBytes(t *testing.T) {
	t.Parallel()
	p := serve(t, says("yes", "yes"))
	dir := t.TempDir()
	record := func(name string, seeds ...int) []byte {
		tape := must.Get(model.RecordCassette(filepath.Join(dir, name)))(t)
		s, _ := open(t, file(p.URL, ""), func(c *model.Config) { c.Cassette = tape })
		for _, seed := range seeds {
			expect(t, complete(t, s, ask(func(c *abi.Completion) { c.Seed = seed })), abi.CompletionAnswered, "")
		}
		must.Do(t, s.Close())
		return must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
	}
	first, other := record("a", 1, 2, 3, 4), record("b", 4, 2, 1, 3)
	if !bytes.Equal(first, other) || bytes.Count(first, []byte("\n")) != 5 {
		t.Errorf("%s\n%s", first, other)
	}
	asked := len(p.asked())
	// A process was killed while it wrote.
	must.Do(t, os.WriteFile(filepath.Join(dir, "c"), first[:len(first)-10], 0o600))
	check.Fails(t, check.Err(model.PlayCassette(filepath.Join(dir, "c"))), ":5: the line is cut: remove it")
	if third := record("c", 1, 2, 3, 4); !bytes.Equal(first, third) || len(p.asked()) != asked+1 {
		t.Errorf("%d more requests\n%s", len(p.asked())-asked, third)
	}
	tape := must.Get(model.RecordCassette(filepath.Join(dir, "a")))(t)
	check.Fails(t, check.Err(model.RecordCassette(filepath.Join(dir, "a"))), "another process has locked the file")
	s, _ := open(t, sound, func(c *model.Config) { c.Cassette = tape })
	must.Do(t, s.Close())
}

func TestHostileCassettes(t *testing.T) {
	t.Parallel()
	const head = "{\"cassette\":1}\n"
	digest := strings.Repeat("0123456789abcdef", 4)
	good := `{"digest":"` + digest + `","alias":"reader","model":"tiny","seed":1,"answer":"yes","input_tokens":1,"output_tokens":2}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", ": the cassette is empty"},
		{"other JSON", good, ":1: this is no cassette: its first line is not {\"cassette\":1}"},
		{"another version", "{\"cassette\":2}\n", ":1: this is no cassette"},
		{"a line of something else", "hello", ":1: this is no cassette"},
		{"no JSON", head + good + "x\n", ":3: not JSON"},
		{"an empty line", head + "\n", ":2: the JSON ends in the middle"},
		{"cut", head + good[:40], ":2: the line is cut"},
		{"twice", head + good + good, ":3: has the digest of line 2"},
		{"a key twice", head + strings.Replace(good, `"seed":1`, `"seed":1,"seed":2`, 1), `:2: the key "seed" occurs twice`},
		{"an unknown key", head + strings.Replace(good, `"seed"`, `"sead"`, 1), `:2: is no entry: unknown field "sead"`},
		{"a wrong type", head + strings.Replace(good, `:1,`, `:"1",`, 1), ":2: is no entry"},
		{"a list", head + "[]\n", ":2: is no entry"},
		{"no digest", head + strings.Replace(good, digest, "abc", 1), ":2: has no digest of 64 hexadecimal digits"},
		{"no alias", head + strings.Replace(good, "reader", "", 1), ":2: has no alias or no model"},
		{"a negative number", head + strings.Replace(good, `:2}`, `:-2}`, 1), ":2: has a number that can't be"},
		{"no answer", head + strings.Replace(good, "yes", "", 1), ":2: needs either an answer, or a failure with a detail"},
		{"both", head + strings.Replace(good, `"seed"`, `"failure":"failed","detail":"x","seed"`, 1), ":2: needs either"},
		{"an unknown failure", head + strings.Replace(good, `"answer":"yes"`, `"failure":"tired","detail":"x"`, 1), ":2: has an unknown failure"},
		{"a huge answer", head + strings.Replace(good, "yes", strings.Repeat("x", 300_000), 1), ":2: has an answer of more than 262144 bytes"},
		{"a huge line", head + strings.Replace(good, "yes", strings.Repeat("x", 2_000_000), 1), ":2: has more than"},
		{"no UTF-8", head + strings.Replace(good, "yes", "\xff", 1), ":2: is not UTF-8"},
		{"deep", head + strings.Repeat("[", 100_000) + "\n", ":2: the JSON is nested deeper than 64"},
	} {
		name := filepath.Join(t.TempDir(), "tape")
		must.Do(t, os.WriteFile(name, []byte(c.text), 0o600))
		_, err := model.PlayCassette(name)
		if err == nil || !strings.HasPrefix(err.Error(), name+c.want) || len(err.Error()) > 500 {
			t.Errorf("%s: %v", c.name, err)
		}
		if tape, err := model.RecordCassette(name); err == nil && c.name != "empty" && c.name != "cut" {
			t.Errorf("%s: recorded onto %v", c.name, tape)
		}
		if data, _ := os.ReadFile(name); err != nil && c.name != "empty" && c.name != "cut" && string(data) != c.text {
			t.Errorf("%s: the file was changed", c.name)
		}
	}
	dir := t.TempDir()
	for _, open := range []func(string) (*model.Cassette, error){model.PlayCassette, model.RecordCassette} {
		if _, err := open(dir); err == nil {
			t.Error("a folder was opened")
		}
	}
	check.Is(t, check.Err(model.PlayCassette(filepath.Join(dir, "none"))), os.ErrNotExist)
}

// Many trials at the same time share a set and a cassette.
func TestTogether(t *testing.T) {
	t.Parallel()
	p := serve(t, says("yes"))
	dir := t.TempDir()
	tape := must.Get(model.RecordCassette(filepath.Join(dir, "tape")))(t)
	s, _ := open(t, file(p.URL, "budgets: {docket: {tokens: 100000}}"), func(c *model.Config) { c.Cassette = tape })
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			expect(t, complete(t, s, ask(samples(2), func(c *abi.Completion) { c.Seed = i % 4 })), abi.CompletionAnswered, "")
		})
	}
	group.Wait()
	must.Do(t, s.Close())
	must.Get(model.PlayCassette(filepath.Join(dir, "tape")))(t)
}

// While a process records, nobody else records or plays: not all answers are there.
func TestACassetteHasOneWriter(t *testing.T) {
	t.Parallel()
	p := serve(t, says("yes"))
	name := filepath.Join(t.TempDir(), "tape")
	tape := must.Get(model.RecordCassette(name))(t)
	for _, opened := range []func(string) (*model.Cassette, error){model.RecordCassette, model.PlayCassette} {
		if _, err := opened(name); err == nil || !strings.HasPrefix(err.Error(), name+": another process has locked the file") {
			t.Errorf("%v", err)
		}
	}
	s, _ := open(t, file(p.URL, ""), func(c *model.Config) { c.Cassette = tape })
	complete(t, s, ask())
	must.Do(t, s.Close())
	// Whoever waits for the end of the others adds to what they recorded, and loses nothing of it.
	const writers, rounds = 4, 5
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for round := 0; round < rounds; {
				tape, err := model.RecordCassette(name)
				if err != nil {
					runtime.Gosched()
					continue
				}
				s, _ := open(t, file(p.URL, ""), func(c *model.Config) { c.Cassette = tape })
				complete(t, s, ask(func(c *abi.Completion) { c.Seed = 1000 + w*rounds + round }))
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				round++
			}
		})
	}
	group.Wait()
	data, err := os.ReadFile(name)
	if lines := bytes.Count(data, []byte("\n")); err != nil || lines != 2+writers*rounds {
		t.Errorf("%d lines, %v", lines, err)
	}
	must.Get(model.PlayCassette(name))(t)
}

// A cassette that is full says so at the end, and what it has can be played.
func TestAFullCassette(t *testing.T) {
	t.Parallel()
	p := serve(t, says("yes", strings.Repeat("x", 5000), "no"))
	name := filepath.Join(t.TempDir(), "tape")
	tape := must.Get(model.RecordCassette(name))(t)
	tape.Bound(4000)
	s, _ := open(t, file(p.URL, ""), func(c *model.Config) { c.Cassette = tape })
	for seed := range 3 {
		expect(t, complete(t, s, ask(func(c *abi.Completion) { c.Seed = seed })), abi.CompletionAnswered, "")
	}
	check.Fails(t, s.Close(), "the cassette is full: it has at most 4000 bytes, and not all answers")
	tape = must.Get(model.PlayCassette(name))(t)
	s, _ = open(t, file(p.URL, ""), func(c *model.Config) { c.Cassette = tape })
	for seed, outcome := range []abi.CompletionOutcome{abi.CompletionAnswered, abi.CompletionFailed, abi.CompletionFailed} {
		if got := complete(t, s, ask(func(c *abi.Completion) { c.Seed = seed })); got.Outcome != outcome {
			t.Errorf("seed %d: %+v", seed, got)
		}
	}
}
