package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const sound = `
providers:
  hosted: {api: openai, url: "https://api.example.com/v1", key_env: HOSTED_KEY, timeout: 90s, retries: 0, rate: 60, concurrency: 8}
  local: {api: openai, url: "http://127.0.0.1:8080/v1"}
  claude: {api: anthropic, url: "https://api.anthropic.com", key_file: ./key}
models:
  reader: {provider: hosted, model: gpt, context_tokens: 128000, answer_tokens: 4096, price: {input: 0.15, output: 0.6}}
  small: {provider: local, model: "tiny:1b", context_tokens: 4096, answer_tokens: 512, schemas: prompt}
budgets:
  call: {tokens: 20000, seconds: 60, money: 0.05}
  docket: {money: 5}
`

func TestParse(t *testing.T) {
	t.Parallel()
	d := must.Get(model.Parse("models.yaml", []byte(sound)))(t)
	hosted, small := d.Providers["hosted"], d.Models["small"]
	if hosted.Timeout != 90*time.Second || hosted.Retries != 0 || hosted.Rate != 60 || d.Providers["local"].Timeout != 2*time.Minute || d.Providers["local"].Retries != 4 {
		t.Errorf("%+v", hosted)
	}
	if small.Schemas != model.SchemaByPrompt || d.Models["reader"].Price.Output != 0.6 || *d.Budgets.Call.Tokens != 20000 || *d.Budgets.Docket.Money != 5 || d.Budgets.Trial.Seconds != nil {
		t.Errorf("%+v", d)
	}
	check.Same(t, cmp.Diff([]string{"reader", "small"}, d.Names()))
}

func TestParseNamesEveryFault(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	many.WriteString("models: {}\nproviders:\n")
	for i := range 300 {
		fmt.Fprintf(&many, "  p%d: {api: openai, url: 'https://x'}\n", i)
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "m.yaml:1:1: the file is empty [syntax]"},
		{"no YAML", "a: [", "m.yaml:1:1: not YAML: did not find expected node content [syntax]"},
		{"no UTF-8", "a: \xff", "m.yaml:1:4: not UTF-8 (byte 0xff) [encoding]"},
		{"two documents", sound + "---\n", "m.yaml:12:1: a second document; a file holds one [syntax]"},
		{"a text", "hello", "m.yaml:1:1: want a mapping, not a text [wrong_type]"},
		{"nothing in it", "providers: {}\nmodels: {}\n", "m.yaml:1:12: providers: is empty [out_of_range]\n" +
			"m.yaml:2:9: models: is empty [out_of_range]"},
		{"an anchor", "providers: &a {}\nmodels: *a\n", "m.yaml:2:9: aliases are not allowed; write the value out [alias]"},
		{"too deep", "a: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), "m.yaml:1:36: nested deeper than 32 levels [too_deep]"},
		{"too large", strings.Repeat("#", model.MaxFileBytes+1), "m.yaml: is larger than 262144 bytes [too_large]"},
		{"unknown keys", "providers: {}\nmodel: {}\nmodel: 1\n", "m.yaml:1:1: models: is missing [missing]\n" +
			"m.yaml:1:12: providers: is empty [out_of_range]\n" +
			"m.yaml:2:1: model: unknown key; known are budgets, models, providers [unknown_key]\n" +
			"m.yaml:3:1: model: \"model\" was given in line 2 already [duplicate_key]"},
		{"providers", `providers:
  a: {api: grpc, url: ftp://x, timeout: 2h, retries: 11, rate: 0, concurrency: many}
  b: {url: "https://x:y@z", api_key: abc}
  c: {api: openai, url: "http://example.com", key_env: K}
  d: {api: openai, url: "http://[::1]:80", key_env: k, key_file: key}
  e e: {}
  1: {}
models: {}
`, `m.yaml:2:12: providers["a"].api: use openai or anthropic [out_of_range]
m.yaml:2:23: providers["a"].url: use an address such as https://api.example.com/v1 [out_of_range]
m.yaml:2:41: providers["a"].timeout: use a duration above 0 and up to 1h, such as 90s [out_of_range]
m.yaml:2:54: providers["a"].retries: use a number from 0 to 10 [out_of_range]
m.yaml:2:64: providers["a"].rate: use a number from 1 to 60000 [out_of_range]
m.yaml:2:80: providers["a"].concurrency: want an integer, not a text [wrong_type]
m.yaml:3:3: providers["b"].api: is missing [missing]
m.yaml:3:12: providers["b"].url: use an address without a user, a query and a fragment; keys belong into key_env or key_file [out_of_range]
m.yaml:3:29: providers["b"].api_key: unknown key; a provider's key never stands in this file: key_env names the variable that holds it, key_file the file [unknown_key]
m.yaml:4:25: providers["c"].url: use https: a key would travel in the clear [out_of_range]
m.yaml:5:53: providers["d"].key_env: use the name of a variable in capital letters, such as PROVIDER_KEY; the key itself never stands in this file [out_of_range]
m.yaml:5:66: providers["d"].key_file: use an absolute path, or one that begins with ~/, ./ or ../; the key itself never stands in this file [out_of_range]
m.yaml:5:66: providers["d"].key_file: key_env is there, too: one of them is enough [out_of_range]
m.yaml:6:3: providers["e e"]: use a name of letters, digits and . _ - : /, at most 64 of them [out_of_range]
m.yaml:6:3: providers["e e"].api: is missing [missing]
m.yaml:6:3: providers["e e"].url: is missing [missing]
m.yaml:7:3: providers["1"]: want a text as key, not a number [wrong_type]
m.yaml:8:9: models: is empty [out_of_range]`},
		{"addresses", `providers:
  a: {api: openai, url: "https://x.example/v1/chat/completions/"}
  b: {api: openai, url: "http://127.0.0.1:99999"}
  c: {api: anthropic, url: "https://x.example/v1"}
  d: {api: anthropic, url: "https://x.example/v1/messages"}
  e: {api: openai, url: "https://x.example:0/v1"}
  f: {api: openai, url: "https://x.example:99999999999999999999/v1"}
models: {}
`, `m.yaml:2:25: providers["a"].url: leave out /chat/completions at its end: the host adds it [out_of_range]
m.yaml:3:25: providers["b"].url: use a port from 1 to 65535 [out_of_range]
m.yaml:4:28: providers["c"].url: leave out /v1 at its end: the host adds it [out_of_range]
m.yaml:5:28: providers["d"].url: leave out /v1/messages at its end: the host adds it [out_of_range]
m.yaml:6:25: providers["e"].url: use a port from 1 to 65535 [out_of_range]
m.yaml:7:25: providers["f"].url: use a port from 1 to 65535 [out_of_range]
m.yaml:8:9: models: is empty [out_of_range]`},
		{"a bomb", "providers: &a {}\nmodels: [*a, *a, *a, *a]\nx: [*a, *a]\n", "m.yaml:2:10: aliases are not allowed; write the value out [alias]\n" +
			"m.yaml:2:14: aliases are not allowed; write the value out [alias]\n" +
			"m.yaml:2:18: aliases are not allowed; write the value out [alias]\n" +
			"m.yaml:2:22: aliases are not allowed; write the value out [alias]\n" +
			"m.yaml:3:5: aliases are not allowed; write the value out [alias]\n" +
			"m.yaml:3:9: aliases are not allowed; write the value out [alias]"},
		{"brackets", "a: " + strings.Repeat("[", 20_000), "m.yaml:1:1: nested deeper than 32 levels [syntax]"},
		{"an open list", "a: [KEY, KEY\nb: c: KEY\n", "m.yaml:1:1: not YAML: did not find expected ',' or ']' [syntax]"},
		{"models", `providers: {a: {api: openai, url: "https://x"}}
models:
  one: {provider: b, model: "", context_tokens: 100, answer_tokens: 100, price: {input: -1}, schemas: maybe}
  two: {provider: [a], model: x, context_tokens: 99999999999, answer_tokens: 1.5, answer_limit: n, parameters: {messages: [], x: .nan, y: 2026-01-01}}
  three: a
`, `m.yaml:3:19: models["one"].provider: there is no provider "b"; there are a [out_of_range]
m.yaml:3:29: models["one"].model: is empty [out_of_range]
m.yaml:3:69: models["one"].answer_tokens: an answer of 100 tokens leaves no room for a question in context_tokens: 100 [out_of_range]
m.yaml:3:81: models["one"].price.output: is missing [missing]
m.yaml:3:89: models["one"].price.input: use a number from 0 to 1e+06 [out_of_range]
m.yaml:3:103: models["one"].schemas: use provider, json_object or prompt [out_of_range]
m.yaml:4:19: models["two"].provider: want a text, not a list [wrong_type]
m.yaml:4:50: models["two"].context_tokens: use a number from 1 to 1073741824 [out_of_range]
m.yaml:4:78: models["two"].answer_tokens: want an integer, not a number [wrong_type]
m.yaml:4:97: models["two"].answer_limit: use max_tokens or max_completion_tokens [out_of_range]
m.yaml:4:113: models["two"].parameters["messages"]: the host sets it itself [unknown_key]
m.yaml:4:130: models["two"].parameters["x"]: is no JSON value [wrong_type]
m.yaml:5:10: models["three"]: want a mapping, not a text [wrong_type]`},
		{
			"a mode of another api", "providers: {a: {api: anthropic, url: 'https://x'}}\nmodels: {m: {provider: a, model: x, context_tokens: 2, answer_tokens: 1, schemas: json_object}}\n",
			"m.yaml:2:83: models[\"m\"].schemas: the provider a has the api anthropic, which has no json_object: use provider or prompt [out_of_range]",
		},
		{
			"budgets", "providers: {a: {api: openai, url: 'https://x'}}\nmodels: {m: {provider: a, model: x, context_tokens: 2, answer_tokens: 1}}\nbudgets: {call: {tokens: -1, seconds: .inf, money: x}, case: {}}\n",
			"m.yaml:3:26: budgets.call.tokens: use a number from 0 to 1125899906842624 [out_of_range]\n" +
				"m.yaml:3:39: budgets.call.seconds: want a finite number, not a number [out_of_range]\n" +
				"m.yaml:3:52: budgets.call.money: want a number, not a text [wrong_type]\n" +
				"m.yaml:3:56: budgets.case: unknown key; known are call, docket, trial [unknown_key]",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := model.Parse("m.yaml", []byte(c.text))
			if err == nil {
				t.Fatal("it was read")
			}
			check.Same(t, cmp.Diff(strings.Split(c.want, "\n"), strings.Split(err.Error(), "\n")), "faults (-want +got)")
		})
	}
	want := "m.yaml:1:9: models: is empty [out_of_range]\nm.yaml:3:3: providers: has 300 entries; there may be 256 [out_of_range]"
	if _, err := model.Parse("m.yaml", []byte(many.String())); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	many.Reset()
	for i := range 150 {
		fmt.Fprintf(&many, "unknown%d: 1\n", i)
	}
	check.Fails(t, check.Err(model.Parse("m.yaml", []byte(many.String()))), "more faults are not shown")
}

// A key that stands where a name, a field or a tag belongs is not shown either.
func TestNoFaultShowsAKeyInTheWrongPlace(t *testing.T) {
	t.Parallel()
	const key = "sk-SECRETsecret1234567890abcdef"
	const good = "providers:\n  h: {api: openai, url: 'http://127.0.0.1:1/v1'}\nmodels:\n  r: {provider: h, model: x, context_tokens: 9000, answer_tokens: 100}\n"
	for name, edit := range map[string]string{
		"a field":           strings.Replace(good, "api: openai", "api: openai, "+key+": x", 1),
		"a field twice":     strings.Replace(good, "api: openai", "api: openai, "+key+": x, "+key+": x", 1),
		"a field of a root": good + key + ": x\n",
		"a tag":             strings.Replace(good, "api: openai", "api: openai, key_env: !"+key+" x", 1),
		"a provider":        strings.Replace(good, "  h: ", "  "+key+": ", 1),
		"a faulty provider": strings.Replace(good, "  h: {api: openai", "  "+key+": {api: no", 1),
		"a model":           strings.Replace(strings.Replace(good, "  r: ", "  "+key+": ", 1), "100}", "0}", 1),
		"its provider":      strings.Replace(good, "provider: h", "provider: "+key, 1),
		"a parameter":       strings.Replace(good, "100}", "100, parameters: {"+key+": .nan}}", 1),
	} {
		if _, err := model.Parse("m.yaml", []byte(edit)); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Keys come from a file beside models.yaml, too.
func TestKeyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := serve(t, says("yes"))
	name := filepath.Join(dir, "models.yaml")
	text := strings.Replace(file(p.URL, ""), "key_env: TEST_KEY", "key_file: ./key", 1)
	for _, c := range []struct {
		key    string
		detail string
	}{
		{"-", "the key file " + filepath.Join(dir, "key") + " can't be read: no such file"},
		{"\n", "is empty"},
		{"short", "does not hold a key"},
		{"two words" + plantedKey, "does not hold a key: a key has no blanks"},
		{plantedKey + "\n", ""},
	} {
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
		if c.key != "-" {
			must.Do(t, os.WriteFile(filepath.Join(dir, "key"), []byte(c.key), 0o600))
		}
		d := must.Get(model.Load(name))(t)
		s := must.Get(model.Open(model.Config{Definition: d, Clock: newClock()}))(t)
		outcome := abi.CompletionNotAsked
		if c.detail == "" {
			outcome = abi.CompletionAnswered
		}
		expect(t, complete(t, s, ask()), outcome, c.detail)
		if (len(s.Warnings()) > 0) != (c.detail != "") {
			t.Errorf("warnings %q", s.Warnings())
		}
		must.Do(t, s.Close())
	}
	check.Equal(t, p.headers[0].Get("Authorization"), "Bearer "+plantedKey, "sent")
	if _, err := model.Load(filepath.Join(dir, "none.yaml")); err == nil {
		t.Error("there is no such file")
	}
}

// The digest is of what answers depend on, and not of keys, prices, budgets and waits.
func TestDigest(t *testing.T) {
	t.Parallel()
	digest := func(text string) string {
		s, _ := open(t, text)
		return s.Digest()
	}
	first := digest(sound)
	for old, change := range map[string]string{
		"key_env: HOSTED_KEY": "key_env: OTHER_KEY", "0.15": "3", "tokens: 20000": "tokens: 7", "90s": "5s", "rate: 60": "rate: 61", "retries: 0": "retries: 1",
	} {
		check.Equal(t, digest(strings.Replace(sound, old, change, 1)), first, "it depends on", old)
	}
	for old, change := range map[string]string{
		"model: gpt": "model: gpt2", "api.example.com": "api2.example.com", "reader:": "writer:", "4096, price": "4095, price", "128000": "127000",
		"schemas: prompt": "schemas: provider", "512,": "512, parameters: {top_p: 0.5},",
	} {
		if digest(strings.Replace(sound, old, change, 1)) == first {
			t.Errorf("it does not depend on %s", old)
		}
	}
}
