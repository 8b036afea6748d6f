package model_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestHostileSchemas(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString(`{"$defs": {"d0": {"type": "string"}`)
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&bomb, `, "d%d": {"allOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}`, i, i-1, i-1)
	}
	bomb.WriteString(`}, "$ref": "#/$defs/d30"}`)
	for _, c := range []struct{ name, schema, want string }{
		{"no JSON", "type: object", "not JSON"},
		{"half", `{"type": `, "the JSON ends in the middle"},
		{"two", `{} {}`, "more text follows"},
		{"a key twice", `{"type": "object", "type": "array"}`, `the key "type" occurs twice`},
		{"a number", "7", "got number, want boolean or object"},
		{"no schema", `{"type": "thing"}`, "at '/type'"},
		{"too long", `{"title": "` + strings.Repeat("x", 65<<10) + `"}`, "there may be 65536"},
		{"too deep", strings.Repeat(`{"not":`, 70) + "true" + strings.Repeat("}", 70), "nested deeper than 64"},
		{"too large a number", `{"minimum": 1e999999999}`, "a number is too large or too long"},
		{"a bomb", bomb.String(), "more than 20000 values"},
		{"in circles", `{"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}`, "#/$defs/a refers to itself"},
		{"the whole", `{"items": {"$ref": "#"}}`, "a $ref has to begin with #/"},
		{"a file", `{"$ref": "file:///etc/passwd"}`, "a $ref has to begin with #/"},
		{"the network", `{"$ref": "http://127.0.0.1:1/x"}`, "a $ref has to begin with #/"},
		{"a name of its own", `{"$id": "http://127.0.0.1:1/x", "type": "object"}`, "the keyword $id is not supported"},
		{"another dialect", `{"$schema": "http://127.0.0.1:1/x"}`, "$schema has to be https://json-schema.org/draft/2020-12/schema"},
		{"a dynamic reference", `{"$dynamicRef": "#x"}`, "the keyword $dynamicRef is not supported"},
		{"nothing there", `{"$ref": "#/$defs/x"}`, "#/$defs/x refers to nothing"},
		{"nothing in a list", `{"allOf": [true], "$ref": "#/allOf/1"}`, "refers to nothing"},
		{"into a text", `{"title": "x", "$ref": "#/title/x"}`, "refers to nothing"},
		{"a pattern", `{"pattern": "("}`, "no regular expression"},
		{"look-ahead", `{"patternProperties": {"(?=x)": true}}`, "no regular expression"},
		{"a large pattern", `{"pattern": "((a{30}){30}){30}"}`, "no regular expression"},
		{"large patterns", `{"allOf": [` + strings.Repeat(`{"pattern": "a{1000}"},`, 30) + `true]}`, "more than 20000 values"},
	} {
		_, err := model.Accept(c.schema, "{}")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, sound := range []string{
		"true", "{}", `{"$schema": "https://json-schema.org/draft/2020-12/schema"}`, `{"properties": {"$ref": true, "id": {"type": "string"}}}`,
		`{"$defs": {"a~/b": true}, "$ref": "#/$defs/a~0~1b"}`, `{"prefixItems": [true], "$ref": "#/prefixItems/0"}`, `{"patternProperties": {"^a+$": {"pattern": "b"}}}`,
	} {
		must.Get(model.Accept(sound, "{}"))(t, sound)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const schema = `{"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"], "additionalProperties": false}`
	for _, c := range []struct{ text, want, fault string }{
		{`{"n": 1}`, `{"n":1}`, ""},
		{"\n\t{\"n\": 1.0}  ", `{"n":1.0}`, ""},
		{"```json\n{\"n\": 2}\n```", `{"n":2}`, ""},
		{"Here it is: {\"n\": 3}. Good luck!", `{"n":3}`, ""},
		{"As {this} says: {\"n\": 3}", `{"n":3}`, ""},
		{`{"n": 1} {"n": 2}`, "", "2 JSON values stand in the answer, and it has to be one"},
		{`See [1]: {"n": 2}`, "", "2 JSON values"},
		{`{"n": 1`, "", "the JSON ends in the middle"},
		{"", "", "the JSON ends in the middle"},
		{"no", "", "not JSON"},
		{`{"n": 1, "n": 2}`, "", `the key "n" occurs twice`},
		{`{"n": 1e99999999}`, "", "a number is too large or too long"},
		{`{"n": 0.` + strings.Repeat("0", 100) + `1}`, "", "a number is too large or too long"},
		{`{"n": 10, "m": 1}`, "", "at '/n': maximum: got 10, want 9"},
		{`{"m": {}}`, "", "missing property 'n'"},
		{`"n"`, "", "got string, want object"},
		{strings.Repeat("[", 70), "", "nested deeper than 64"},
		{strings.Repeat("[]", 70), "", "no single JSON value"},
		{`See [log:L9] and [this]: {"n": 3}`, `{"n":3}`, ""},
		{`{"n": NaN, "m": {"n": 3}}`, "", "not JSON: invalid character 'N'"},
		{"```json\n{\"m\": [{\"n\": 3}], \"n\": NaN}\n```", "", "not JSON: invalid character 'N'"},
		{`{'n': '}', 'm': {"n": 3}}`, "", "not JSON: invalid character '\\''"},
		{`Here: {"n": 1, "m": {"n": 3}`, "", "the JSON ends in the middle"},
		{`{"n": "\"{", "m": [}, {"n": 3}`, "", "not JSON"},
		{"{\"n\": 1, \"x\": " + strings.Repeat("[", 70) + strings.Repeat("]", 70) + "}", "", "nested deeper than 64"},
	} {
		got, err := model.Accept(schema, c.text)
		if got != c.want || (c.fault == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%.60q: %q, %v", c.text, got, err)
		}
	}
	many := `{"type": "array", "items": {"type": "string"}}`
	if _, err := model.Accept(many, "["+strings.Repeat("1,", 50)+"1]"); err == nil || !strings.HasSuffix(err.Error(), "\nand 43 more") || strings.Count(err.Error(), "\n") != 8 {
		t.Errorf("%v", err)
	}
	costly := `{"allOf": [` + strings.Repeat(`{"minProperties": 0},`, 2900) + `true]}`
	check.Fails(t, check.Err(model.Accept(costly, `{"x": "`+strings.Repeat("x", 100_000)+`"}`)), "too long to be validated")
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"type": "object", "properties": {"n": {"pattern": "a*", "multipleOf": 0.5}}}`, "so: {\"n\": 1}")
	f.Add(`{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"uniqueItems": true}}, "items": {"$ref": "#/$defs/a"}}`, "[[1, 1.0], [1e300]]")
	f.Add(`{"enum": [1, {"$ref": "#/enum/0"}], "contains": {"const": 1e308}}`, "[]")
	f.Fuzz(func(t *testing.T, schema, text string) {
		document, err := model.Accept(schema, text)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a word")
			}
			return
		}
		check.Equal(t, must.Get(model.Accept(schema, document))(t), document, text, "accepted, and then")
	})
}

// What is wrong with an answer is said in the same words each time: they are part of the question for a better one, by which cassettes and
// caches know it. A validation is not begun where it could take minutes, or gigabytes for all that does not conform.
func TestAnswersThatAreTooLongToValidate(t *testing.T) {
	t.Parallel()
	list := func(keyword string, n int) string {
		return `{"type": "array", "items": {"allOf": [` + strings.Repeat(keyword+",", n-1) + keyword + `]}}`
	}
	of := func(value string, n int) string { return "[" + strings.Repeat(value+",", n-1) + value + "]" }
	for _, c := range []struct{ schema, answer, want string }{
		{list(`{"multipleOf": 1e-300}`, 2500), of("1e308", 4000), "it is too long to be validated by this schema: 4001 values in 24001 bytes"},
		{list(`{"type": "integer"}`, 2500), of("null", 150), "it is too long to be validated by this schema: 151 values in 751 bytes"},
		{list(`{"type": "integer"}`, 20), of("1", 1000), ""},
	} {
		if _, err := model.Accept(c.schema, c.answer); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%.60s: %v, want %q", c.schema, err, c.want)
		}
	}
}

func TestFaultsHaveAnOrder(t *testing.T) {
	t.Parallel()
	const schema = `{"type": "object", "properties": {"p": {"type": "object", "additionalProperties": {"type": "number", "maximum": 1}}}, "required": ["z", "y", "x"], "additionalProperties": false}`
	const answer = `{"p": {"e": 5, "d": 4, "c": 3, "b": 2, "a": 2}, "h": 1, "g": 1, "f": 1}`
	var first string
	for i := range 50 {
		_, err := model.Accept(schema, answer)
		if err == nil {
			t.Fatal("it was accepted")
		}
		if i == 0 {
			first = err.Error()
		}
		must.Equal(t, err.Error(), first, err, "first")
	}
}

// FuzzParse: whatever stands in a file of models, it is read or every fault names the file.
func FuzzParse(f *testing.F) {
	f.Add(sound)
	f.Add("providers: {a: {api: openai, url: 'https://x', key: y}}\nmodels: {m: {parameters: {a: {b: [1, .inf]}}}}\nbudgets: {call: {tokens: 0}}")
	f.Add("&a [*a, *a]")
	f.Add("? [a]\n: b\n<<: c")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := model.Parse("m.yaml", []byte(text))
		if err == nil {
			must.Get(model.Open(model.Config{Definition: d, Getenv: func(string) string { return "" }}))(t)
			return
		}
		for line := range strings.Lines(err.Error()) {
			if !strings.HasPrefix(line, "m.yaml:") {
				t.Errorf("%q", line)
			}
		}
	})
}

// FuzzReply: whatever a provider answers, there is an answer or one line.
func FuzzReply(f *testing.F) {
	f.Add([]byte(`{"choices":[{"finish_reason":"stop","message":{"content":"x","refusal":null}}],"usage":{"prompt_tokens":1}}`))
	f.Add([]byte(`{"content":[{"type":"tool_use","input":{"a":1}}],"stop_reason":"max_tokens","usage":{"input_tokens":1e3}}`))
	f.Add([]byte(`{"error":{"message":["x"],"code":7}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		_ = model.FaultText(body)
		for _, object := range []bool{true, false} {
			for _, api := range []model.API{model.OpenAI, model.Anthropic} {
				if err := model.DecodeReply(api, body, object); err != nil && (err.Error() == "" || strings.ContainsAny(err.Error(), "\n\x1b")) {
					t.Errorf("%q", err)
				}
			}
		}
	})
}

// FuzzCassette: what is read of a cassette has its bytes again, and what is rejected is so with its line.
func FuzzCassette(f *testing.F) {
	line := `{"digest":"` + strings.Repeat("0123456789abcdef", 4) + `","alias":"reader","model":"tiny","seed":1,"answer":"yes","input_tokens":1,"output_tokens":2}`
	f.Add([]byte("{\"cassette\":1}\n" + line + "\n"))
	f.Add([]byte("{\"cassette\":1}\n" + strings.Replace(line, `"answer":"yes"`, `"failure":"failed","detail":"x"`, 1) + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		again, err := model.ParseCassette(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "tape:") {
				t.Errorf("%v", err)
			}
			return
		}
		if third, err := model.ParseCassette(again); err != nil || !bytes.Equal(again, third) {
			t.Errorf("%q becomes %q: %v", again, third, err)
		}
	})
}

// What is left of a JSON text without the key is JSON, and nothing else goes.
func TestScrub(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, text, want string }{
		{"secret-1", "SeCrEt-1", "[key]"},
		{"secret-1", "secret-2 secret- 1 secret-", "secret-2 secret- 1 secret-"},
		{"secret-1", `"\u0073e\u0063RET\u002d1secret-1"`, `"[key][key]"`},
		{"secret-1", `"\\secret-1"`, `"\\[key]"`},
		{"newkey-1", `"a\newkey-1"`, `"a[key]"`}, // a line break and another word, or the key behind a backslash
		{"newkey-1", `"a\\\u006eewkey-1"`, `"a\\[key]"`},
		{`a"b\c/d-1`, `"A\"B\\C\/D-1"`, `"[key]"`},
		{`a"b\c/d-1`, `a"b\c/d-1`, "[key]"},
		{"aaaaaaaa", "aaaaaaaaaaaaaaaaab", "[key][key]ab"},
		{"", "nothing", "nothing"},
	} {
		got := model.Scrub(c.key, c.text)
		if got != c.want || json.Valid([]byte(c.text)) && !json.Valid([]byte(got)) {
			t.Errorf("%s without %s: %s, want %s", c.text, c.key, got, c.want)
		}
	}
}
