package model_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A broken answer is repaired once, in a turn that says what is wrong with it; then the completion fails by name.
func TestAccept_LL2_ABrokenAnswerIsRepairedOnceThenFailsByName(t *testing.T) {
	t.Parallel()
	t.Run("repaired", func(t *testing.T) {
		t.Parallel()
		p := serve(t, says(`{"label": "c"}`, "```json\n{ \"label\": \"b\" }\n```"))
		s, _ := open(t, file(p.URL, ""))
		got := complete(t, s, ask(conforming))
		expect(t, got, abi.CompletionAnswered, "")
		if !slices.Equal(got.Answers, []string{`{"label":"b"}`}) || got.InputTokens != 200 || got.OutputTokens != 20 {
			t.Errorf("%+v", got)
		}
		messages := p.asked()[1]["messages"].([]any)
		said := messages[3].(map[string]any)["content"].(string)
		if len(messages) != 4 || messages[2].(map[string]any)["content"] != `{"label": "c"}` || !strings.Contains(said, "at '/label': value must be one of 'a', 'b'") {
			t.Errorf("the repair asks %v", messages)
		}
	})
	t.Run("failed", func(t *testing.T) {
		t.Parallel()
		p := serve(t, says(`{"label": "a", "why": 1}`, "I would say a."))
		s, _ := open(t, file(p.URL, ""))
		got := complete(t, s, ask(conforming))
		expect(t, got, abi.CompletionInvalid, "the answer of reader does not conform to the schema: not JSON")
		if len(p.asked()) != 2 || len(got.Answers) > 0 || got.InputTokens != 200 || got.Cost != (200+20*10)/1e6 {
			t.Errorf("%d requests, %+v", len(p.asked()), got)
		}
	})
}

func TestAccept_LL4_Budgets(t *testing.T) {
	t.Parallel()
	const asIs = `{"label": "a"}`
	for _, c := range []struct {
		name, budgets string
		samples       int
		before        trial.ModelUsage
		outcome       abi.CompletionOutcome
		detail        string
		requests      int
	}{
		{"enough", "{call: {tokens: 300, seconds: 1, money: 0.01}, trial: {tokens: 300}, docket: {tokens: 300}}", 1, trial.ModelUsage{}, abi.CompletionAnswered, "", 1},
		{"no tokens", "{call: {tokens: 0}}", 1, trial.ModelUsage{}, abi.CompletionNotAsked, "the budget of the call is 0: no model is asked", 0},
		{"no seconds", "{trial: {seconds: 0}}", 1, trial.ModelUsage{}, abi.CompletionNotAsked, "the budget of the trial is 0: no model is asked", 0},
		{"no money", "{docket: {money: 0}}", 1, trial.ModelUsage{}, abi.CompletionNotAsked, "the budget of the docket is 0: no model is asked", 0},
		{"call: tokens", "{call: {tokens: 200}}", 1, trial.ModelUsage{}, abi.CompletionNotAsked, "the budget of the call does not suffice: 0 of 200 tokens are used, and the question may take", 0},
		{"call: money", "{call: {money: 0.002}}", 1, trial.ModelUsage{}, abi.CompletionNotAsked, "the budget of the call does not suffice: 0 of 0.002 in money are used, and the question may cost 0.0020", 0},
		{"trial: tokens", "{trial: {tokens: 1000}}", 1, trial.ModelUsage{InputTokens: 700, OutputTokens: 100}, abi.CompletionNotAsked, "the trial does not suffice: 800 of 1000 tokens are used", 0},
		{"trial: money", "{trial: {money: 1}}", 1, trial.ModelUsage{Cost: 0.999}, abi.CompletionNotAsked, "the trial does not suffice: 0.999 of 1 in money are used", 0},
		{"trial: seconds", "{trial: {seconds: 60}}", 1, trial.ModelUsage{Waited: 61 * time.Second}, abi.CompletionNotAsked, "the trial is used up: 61 of 60 s", 0},
		{"some samples", "{call: {tokens: 500}}", 5, trial.ModelUsage{}, abi.CompletionPartial, "2 of 5 samples have no answer: the budget of the call does not suffice", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, says(asIs))
			s, _ := open(t, file(p.URL, "budgets: "+c.budgets))
			got := complete(t, s, ask(samples(c.samples)), c.before)
			expect(t, got, c.outcome, c.detail)
			if len(p.asked()) != c.requests || len(got.Answers) != c.requests || got.InputTokens != 100*c.requests {
				t.Errorf("%d requests, %+v", len(p.asked()), got)
			}
		})
	}
	t.Run("docket", func(t *testing.T) {
		t.Parallel()
		p := serve(t, says(asIs))
		s, _ := open(t, file(p.URL, "budgets: {docket: {tokens: 500}}"))
		for range 3 { // each takes 110, and one more might take 240
			expect(t, complete(t, s, ask()), abi.CompletionAnswered, "")
		}
		expect(t, complete(t, s, ask()), abi.CompletionNotAsked, "the budget of the docket does not suffice: 330 of 500 tokens are used, and the question may take")
	})
	t.Run("seconds", func(t *testing.T) {
		t.Parallel()
		var c *clock
		p := serve(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
			c.Advance(31 * time.Second)
			<-r.Context().Done()
		})
		s, fake := open(t, file(p.URL, "budgets: {call: {seconds: 60}, docket: {seconds: 30}}"))
		c = fake
		expect(t, complete(t, s, ask()), abi.CompletionFailed, "no answer within the 30 s that the budget of the docket leaves")
		expect(t, complete(t, s, ask()), abi.CompletionNotAsked, "the budget of the docket is used up: 31 of 30 s")
	})
	t.Run("a repair", func(t *testing.T) {
		t.Parallel()
		p := serve(t, says("no"))
		s, _ := open(t, file(p.URL, "budgets: {call: {tokens: 350}}"))
		expect(t, complete(t, s, ask(conforming)), abi.CompletionInvalid, "it was not repaired: the budget of the call does not suffice: 110 of 350 tokens are used")
	})
}

// The key is in nothing that a person or a program gets to see, even where the provider sends it back.
func TestAccept_LL5_APlantedKeyIsInNoOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tape := must.Get(model.RecordCassette(filepath.Join(dir, "tape.jsonl")))(t)
	answers := []func(int, http.ResponseWriter, *http.Request){
		says("the key is " + plantedKey),
		status(401, "Content-Type", "application/json", `{"error": {"message": "Incorrect API key: `+plantedKey+`", "code": "`+plantedKey+`"}}`),
		status(400, "Content-Type", "text/plain", plantedKey),
		status(307, "Location", "https://elsewhere.example/"+plantedKey, ""),
		status(200, "Content-Type", "text/"+plantedKey, plantedKey),
		status(200, "Content-Type", "application/json", `{"error": {"message": "`+plantedKey+`"}}`),
		status(200, "Content-Type", "application/json", `{"choices": [{"message": {"refusal": "`+plantedKey+`"}}]}`),
		status(400, "Content-Type", "text/plain", strings.Repeat("x", 290)+plantedKey), // where the text is cut
		status(400, "Content-Type", "application/json", `{"error": {"message": "`+strings.Repeat("x", 290)+plantedKey+`"}}`),
		says(strings.ToUpper(plantedKey) + strings.ToLower(plantedKey)),
		says(`{"label": "` + escaped(plantedKey, `\u%04x`) + `", "` + escaped(plantedKey, `\u%04X`) + `": "` + strings.ReplaceAll(plantedKey, "/", `\/`) + `"}`),
		says(`\` + plantedKey + `\\` + escaped(plantedKey, `\u%04x`)),
		status(200, "Content-Type", "application/json", `{"choices": [{"message": {"content": "{\"`+plantedKey+`\": 1}"}}]}`),
	}
	p := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		check.Equal(t, r.Header.Get("Authorization"), "Bearer "+plantedKey, "the provider")
		answers[min(n, len(answers)-1)](n, w, r)
	})
	text := file(p.URL, "")
	var seen bytes.Buffer
	s, _ := open(t, text, func(c *model.Config) {
		c.Cassette = tape
	})
	for i := range answers {
		got := complete(t, s, ask(func(c *abi.Completion) {
			if c.Seed = i; i == len(answers)-1 {
				conforming(c)
			}
		}))
		fmt.Fprintf(&seen, "%+v\n", got)
	}
	d := must.Get(model.Parse("models.yaml", []byte(text)))(t)
	key := model.NewKey(plantedKey)
	for _, v := range []any{s, d, key, &key, struct{ Key model.Key }{key}, struct{ key model.Key }{key}} {
		fmt.Fprintf(&seen, "%v %+v %#v %s %q %x\n", v, v, v, v, v, v)
		data, _ := json.Marshal(v)
		seen.Write(data)
	}
	fmt.Fprintln(&seen, s.Digest(), s.Warnings(), s.Offers(t.Context(), []string{"reader"}))
	must.Do(t, s.Close())
	// Where a key is put into the file itself, and where what is found for a key is none.
	for _, text := range []string{
		"providers:\n  here: {api: openai, url: 'https://x.example', key: KEY}\nmodels: {}\n",
		"providers:\n  here: {api: openai, url: 'https://x.example', key_env: KEY}\nmodels: {}\n",
		"providers:\n  here: {api: openai, url: 'https://x.example', key_file: KEY}\nmodels: {}\n",
		"providers:\n  here: {api: openai, url: 'https://KEY@x.example'}\nmodels: {}\n",
		"providers:\n  here: {api: openai, url: 'https://x.example?key=KEY'}\nmodels: {}\n",
		"providers:\n  here: {api: KEY, url: KEY, timeout: KEY, retries: KEY}\nmodels: {}\n",
		"providers: KEY\nmodels: [KEY]\n", "providers: {a: [\n KEY: KEY: KEY\n", "a: b: KEY",
	} {
		_, err := model.Parse("models.yaml", []byte(strings.ReplaceAll(text, "KEY", plantedKey)))
		if err == nil {
			t.Errorf("%s was read", text)
		}
		fmt.Fprintln(&seen, err)
	}
	broken, _ := open(t, text, func(c *model.Config) { c.Getenv = func(string) string { return plantedKey + "\n" + plantedKey } })
	fmt.Fprintln(&seen, broken.Warnings(), complete(t, broken, ask()))
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		seen.WriteString(path)
		seen.Write(data)
		return err
	})
	if err != nil || files != 1 { // the cassette
		t.Errorf("%d files, %v", files, err)
	}
	all := strings.ToLower(strings.ReplaceAll(seen.String(), dir, "")) // which has the name of the test
	for _, part := range []string{plantedKey, "planted", "0123456789+abcdef", `u0073\u006b`} {
		if at := strings.Index(all, part); at >= 0 {
			t.Errorf("the key is in %s", seen.String()[max(at-300, 0):at])
		}
	}
	check.Contains(t, seen.String(), "the key is [key]", "nothing was searched")
}

// escaped writes each character of a key as an escape.
func escaped(key, form string) string {
	var b strings.Builder
	for _, c := range key {
		fmt.Fprintf(&b, form, c)
	}
	return b.String()
}

// noNetwork is a transport that must not be used.
type noNetwork struct{ t *testing.T }

func (n noNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	n.t.Errorf("a connection to %s", r.URL.Host)
	return nil, errors.New("no network")
}

func TestAccept_LL5_PlayingACassetteOpensNoConnection(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "tape.jsonl")
	p := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 4 {
			status(500, "Content-Type", "text/plain", "broken")(n, w, r)
			return
		}
		says(`{"label": "a"}`, "nothing", `{"label": "b"}`, `{"label": "a"}`)(n, w, r)
	})
	questions := []abi.Completion{ask(conforming, samples(3)), ask(), ask(conforming, func(c *abi.Completion) { c.Seed = 99 })}
	run := func(s *model.Set) []abi.CompletionResult {
		var all []abi.CompletionResult
		for _, q := range questions {
			all = append(all, complete(t, s, q))
		}
		return all
	}
	one := func(c *model.Config) { // the order of the answers
		for _, p := range c.Definition.Providers {
			p.Concurrency, p.Retries = 1, 0
		}
	}
	tape := must.Get(model.RecordCassette(name))(t)
	recording, _ := open(t, file(p.URL, ""), one, func(c *model.Config) { c.Cassette = tape })
	want := run(recording)
	requests := len(p.asked())
	if again := run(recording); fmt.Sprint(again) != fmt.Sprint(want) || len(p.asked()) != requests {
		t.Errorf("asked again: %v", again)
	}
	must.Do(t, recording.Close())
	p.Close()
	tape = must.Get(model.PlayCassette(name))(t)
	playing, _ := open(t, file(p.URL, ""), one, func(c *model.Config) {
		c.Cassette, c.Transport, c.Getenv = tape, noNetwork{t}, func(string) string { return "" }
	})
	if got := run(playing); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("played %v\nrecorded %v", got, want)
	}
	if playing.Digest() != recording.Digest() || len(playing.Warnings()) > 0 {
		t.Error("playing is another configuration")
	}
	expect(t, complete(t, playing, ask(func(c *abi.Completion) { c.Seed = 1000 })), abi.CompletionFailed,
		"the cassette has no answer of reader to this question")
}
