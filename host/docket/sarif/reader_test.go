package sarif_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/sarif"
)

// log is a log of one run, with its results, and what stands behind them.
func log(results string, behind ...string) string {
	return `{"version":"2.1.0","runs":[{"results":[` + results + `]` + strings.Join(append([]string{""}, behind...), ",") + `}]}`
}

func result(fields string) string {
	return `{"ruleId":"R1","message":{"text":"too deep"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a/b.c"},"region":{"startLine":7}}}]` + fields + `}`
}

const tool = `"tool":{"driver":{"name":"T"}}`

func read(t *testing.T, r *sarif.Reader, text string) (list []docket.Entry, problems []string) {
	t.Helper()
	for entry, err := range r.Read("x.sarif", strings.NewReader(text)) {
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		readers.Check(t, &entry.Case)
		list = append(list, entry)
	}
	return list, problems
}

// one reads a log of which one case comes, and no problem.
func one(t *testing.T, r *sarif.Reader, text string) docket.Entry {
	t.Helper()
	list, problems := read(t, r, text)
	if len(list) != 1 || len(problems) > 0 {
		t.Fatalf("%d cases, problems %q", len(list), problems)
	}
	return list[0]
}

func document(c *abi.Case, name string) string {
	i := slices.IndexFunc(c.Documents, func(d abi.Document) bool { return d.Name == name })
	if i < 0 {
		return ""
	}
	return c.Documents[i].Text
}

// TestAccept_IG4_RulesStandBehindResults: rules of the tool and of its extensions, files by their index, and messages by their id are
// found although they stand behind the results.
func TestAccept_IG4_RulesStandBehindResults(t *testing.T) {
	t.Parallel()
	const flow = `"codeFlows":[{"threadFlows":[{"locations":[
		{"location":{"physicalLocation":{"artifactLocation":{"index":1},"region":{"startLine":3}},"message":{"text":"req.body"}}},
		{"location":{"physicalLocation":{"artifactLocation":{"uri":"src/db%20.js"},"region":{"startLine":9,"startColumn":5}}}}]}]},
		{"threadFlows":[{"locations":[{"location":{"message":{"text":"not read"}}}]}]}]`
	text := log(`{"rule":{"id":"js/sql","index":0,"toolComponent":{"index":0}},"ruleIndex":0,
		"message":{"id":"default","arguments":["a {1}","[b](1)"]},
		"locations":[{"physicalLocation":{"artifactLocation":{"index":1},"region":{"startLine":12,"startColumn":3}},
			"logicalLocations":[{"name":"q","fullyQualifiedName":"db.q"}]}],
		"relatedLocations":[{"id":1,"physicalLocation":{"artifactLocation":{"uri":"file:///C:/src/a.js"}},"message":{"text":"b"}}],`+flow+`}`,
		`"artifacts":[{"location":{"uri":"a.js"}},{"location":{"uri":"src/q.js"}}]`,
		`"tool":{"driver":{"name":"CodeQL","semanticVersion":"2.0","rules":[{"id":"js/sql"}]},"extensions":[{"name":"x","rules":[{"id":"js/sql","name":"Sql",
			"messageStrings":{"default":{"text":"The query {0} depends on {1}: {{x}}."}},"shortDescription":{"text":"Injection"},"help":{"markdown":"# Fix"},
			"defaultConfiguration":{"level":"error"},"properties":{"precision":"High","security-severity":8.8,"tags":["security",7]}}]}]}`)
	entry := one(t, &sarif.Reader{}, text)
	c := entry.Case
	if c.ID != "src/q.js:12:js/sql" || c.Group != "js/sql" || entry.Line != 1 {
		t.Errorf("id %s, group %s, line %d", c.ID, c.Group, entry.Line)
	}
	if want := "src/q.js:12: The query a {1} depends on [b](1): {x}. (js/sql)"; c.Subject != want {
		t.Errorf("subject %s", c.Subject)
	}
	want := abi.LightAnswer{Classification: sarif.Real, Confidence: 0.8, Reasoning: "CodeQL states a precision of high."}
	if diff := cmp.Diff(want, *c.Light); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{
		"finding": "src/q.js:12:3: error js/sql: The query a {1} depends on [b](1): {x}.\n",
		"rule":    "js/sql Sql\nInjection\n# Fix\n",
		"flow":    "1. src/q.js:3: req.body\n2. src/db .js:9:5\n",
		"related": "1. C:/src/a.js: b\n",
		"about": "tool: CodeQL 2.0\nrule: js/sql\nlevel: error\nprecision: high\nsecurity-severity: 8.8\ntags: security, 7\n" +
			"file: src/q.js\nline: 12\nin: db.q\n",
	} {
		if diff := cmp.Diff(want, document(&c, name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	var refs []string
	for _, e := range c.Evidence {
		refs = append(refs, e.SourceRef+" "+e.Supports)
	}
	if diff := cmp.Diff([]string{"finding:L1 real", "flow:L1 real", "about:L4 real"}, refs); diff != "" {
		t.Error(diff)
	}
}

func TestLight(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string]float64{
		``: 0.60, `,"level":"error"`: 0.70, `,"level":"note"`: 0.50, `,"level":"none"`: 0.50, `,"rank":100`: 0.85, `,"rank":0,"level":"error"`: 0.50,
		`,"rank":-1`: 0.60, `,"rank":1e999`: 0.60, `,"kind":"review","properties":{"precision":"high"}`: 0.50, `,"kind":"open"`: 0.50,
		`,"properties":{"precision":"low"},"rank":90`: 0.50, `,"properties":{"issue_confidence":"HIGH"}`: 0.80, `,"properties":{"precision":"very-high"}`: 0.90,
		`,"properties":{"confidence":"MEDIUM"}`: 0.65, `,"properties":{"confidence":{"a":1},"precision":7}`: 0.60,
		`,"properties":{"security-severity":"9.1"}`: 0.70, `,"properties":{"security-severity":3}`: 0.50, `,"properties":{"security-severity":"?"}`: 0.60,
	} {
		for _, text := range []string{log(result(fields), tool), `{"runs":[{` + tool + `,"results":[` + result(fields) + `]}]}`} {
			light := one(t, &sarif.Reader{}, text).Case.Light
			if light.Classification != sarif.Real || light.Confidence != want {
				t.Errorf("%s: %v, want %v", fields, light, want)
			}
		}
	}
}

func TestWhatSpeaksAgainst(t *testing.T) {
	t.Parallel()
	text := log(`{"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"node_modules/a/test/b_test.js"}}}],"properties":{"precision":"low"}}`, tool)
	var against []string
	for _, e := range one(t, &sarif.Reader{}, text).Case.Evidence {
		if e.Supports == sarif.FalsePositive {
			against = append(against, e.Content)
		}
	}
	if diff := cmp.Diff([]string{"precision: low", "the file is: a test file, code of others"}, against); diff != "" {
		t.Error(diff)
	}
}

// TestWhatIsNoCase counts results that are left out, and takes decisions of people for the truth.
func TestWhatIsNoCase(t *testing.T) {
	t.Parallel()
	list := []struct {
		fields, without, with string // the truth, "-" for a case without one, "" for no case
	}{
		{``, "-", "-"},
		{`,"suppressions":[]`, "-", "-"},
		{`,"suppressions":[{"kind":"inSource"}]`, "", sarif.FalsePositive},
		{`,"suppressions":[{"kind":"external","status":"accepted"}]`, "", sarif.FalsePositive},
		{`,"suppressions":[{"kind":"external","status":"underReview"}]`, "-", "-"},
		{`,"suppressions":[{"kind":"external","status":"rejected"}]`, "-", sarif.Real},
		{`,"suppressions":[{"kind":"inSource"},{"kind":"external","status":"rejected"}]`, "-", sarif.Real},
		{`,"suppressions":[{"status":"underReview"},{"status":"accepted"}]`, "-", "-"},
		{`,"baselineState":"new"`, "-", "-"},
		{`,"baselineState":"updated"`, "-", "-"},
		{`,"baselineState":"unchanged"`, "", ""},
		{`,"baselineState":"absent"`, "", ""},
		{`,"kind":"pass"`, "", ""},
		{`,"kind":"notApplicable"`, "", ""},
		{`,"kind":"informational"`, "", ""},
		{`,"kind":"fail","level":"none"`, "-", "-"},
	}
	for _, truth := range []bool{false, true} {
		for _, tc := range list {
			var left sarif.Left
			r := &sarif.Reader{Truth: truth, Left: func(_ string, l sarif.Left) { left = l }}
			got, problems := read(t, r, log(result(tc.fields), tool))
			want := tc.without
			if truth {
				want = tc.with
			}
			said := ""
			if len(got) == 1 {
				if said = "-"; got[0].Truth != nil {
					said = got[0].Truth.Classification
				}
			}
			if said != want || len(problems) > 0 || left.Count() != 1-len(got) {
				t.Errorf("%s, truth %t: %q, want %q; problems %q, left %v", tc.fields, truth, said, want, problems, left)
			}
		}
	}
}

// TestCodeThatTellsTheTruth: comments in the code suppress results, so that with the truth no case has it.
func TestCodeThatTellsTheTruth(t *testing.T) {
	t.Parallel()
	text := log(`{"message":{"text":"m"},"locations":[{"physicalLocation":{"region":{"startLine":2,"snippet":{"text":"eval(a) // nosec"}}}}],"suppressions":[{"kind":"inSource","justification":"ours"}]}`, tool)
	c := one(t, &sarif.Reader{Truth: true}, text).Case
	if said := fmt.Sprint(c); strings.Contains(said, "nosec") || strings.Contains(said, "ours") {
		t.Error(said)
	}
}

// TestCodeOfTheSource: a result that brings no code gets that of the source, unless the truth is told.
func TestCodeOfTheSource(t *testing.T) {
	t.Parallel()
	code := func(_ string, line int) (string, int) { return "5\n6\n7\n8", line - 2 }
	c := one(t, &sarif.Reader{Code: code}, log(result(""), tool)).Case
	if got := document(&c, "snippet"); got != "5\n6\n7\n8\n" || c.Evidence[1].SourceRef != "snippet:L3" || c.Evidence[1].Content != "7" {
		t.Errorf("%q, %v", got, c.Evidence)
	}
	for _, r := range []*sarif.Reader{{Code: code, Truth: true}, {Code: func(string, int) (string, int) { return "", 0 }}} {
		c := one(t, r, log(result(""), tool)).Case
		if got := document(&c, "snippet"); got != "" {
			t.Errorf("%q", got)
		}
	}
}

// TestSnippetsWithoutTheLine: no excerpt is cut from code that does not have the line of the finding.
func TestSnippetsWithoutTheLine(t *testing.T) {
	t.Parallel()
	text := log(`{"message":{"text":"m"},"locations":[{"physicalLocation":{"region":{"startLine":9},"contextRegion":{"startLine":1,"snippet":{"text":"one\ntwo"}}}}]}`, tool)
	c := one(t, &sarif.Reader{}, text).Case
	if got := document(&c, "snippet"); got != "one\ntwo\n" || len(c.Evidence) != 1 || c.Evidence[0].SourceRef != "finding:L1" {
		t.Errorf("%q, %v", got, c.Evidence)
	}
}

// TestAccept_IG4_LogsThatAreWrong names what is wrong, and reads the rest.
func TestAccept_IG4_LogsThatAreWrong(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	for text, want := range map[string]struct {
		cases int
		says  string
	}{
		``:                              {0, "x.sarif: has no run of SARIF (empty_docket)"},
		`{"version":"2.1.0"}`:           {0, "x.sarif: has no run of SARIF (empty_docket)"},
		`[1]`:                           {0, "x.sarif:1: is a list, expected an object (wrong_type)"},
		"\xff\xfe{":                     {0, "x.sarif: is UTF-16, a SARIF log is UTF-8 text (not_text)"},
		`{"version":"2.0.0","runs":[]}`: {0, `x.sarif:1: version: is "2.0.0": version 2.1.0 can be read (invalid_value)`},
		log(result(``)+`,{`, tool):      {1, "(not_json)"},
		log(result(``)+`,`+result(`,"rank":"high"`), tool):                         {1, "x.sarif:1: runs[0].results[1].rank: is a string, expected a number (wrong_type)"},
		log(result(`,"kind":"bad"`)+","+result(""), tool):                          {1, `x.sarif:1: runs[0].results[0].kind: is "bad", expected one of notApplicable pass fail`},
		log(result(`,"level":7`)+","+result(""), tool):                             {1, "x.sarif:1: runs[0].results[0].level: is a number, expected a string (wrong_type)"},
		log(`7,null,`+result(""), tool):                                            {1, "x.sarif:1: runs[0].results[0]: is a number, expected an object (wrong_type)"},
		log(`{},`+result(""), tool):                                                {1, "has neither a message nor a rule"},
		log(result(``), `"tool":{"driver":{"rules":[7,{"id":"R1"}]}}`):             {1, "runs[0].tool.driver.rules[0]: is a number, expected an object (wrong_type)"},
		log(result(``), tool, `"externalPropertyFileReferences":{"results":[{}]}`): {1, "names other files, which are not read"},
		log(result(`,"properties":{"a":`+deep+`}`), tool):                          {0, "values nest deeper than 64 (too_deep)"},
		log(result(``), tool)[:60]:                                                 {0, "the text ends here, and is not complete (truncated)"},
	} {
		list, problems := read(t, &sarif.Reader{}, text)
		if len(list) != want.cases || !strings.Contains(strings.Join(problems, "\n"), want.says) {
			t.Errorf("%s:\n%d cases, want %d\n%q, want %q", text, len(list), want.cases, problems, want.says)
		}
	}
}

// TestHeldResults: beyond the bound results are given without the rules that stand behind them, each once and in order.
func TestHeldResults(t *testing.T) {
	t.Parallel()
	var results []string
	for i := range 10 {
		results = append(results, fmt.Sprintf(`{"ruleIndex":0,"message":{"text":"m%d"}}`, i))
	}
	text := log(strings.Join(results, ","), `"tool":{"driver":{"name":"T","rules":[{"id":"R"}]}}`)
	for bytes, named := range map[int]int{0: 10, 4000: 2, 1: 0} {
		list, problems := read(t, &sarif.Reader{HeldBytes: bytes}, text)
		got := 0
		for i, e := range list {
			if !strings.Contains(e.Case.Subject, fmt.Sprintf("m%d", i)) {
				t.Errorf("case %d is %s", i, e.Case.Subject)
			}
			if e.Case.Group == "R" {
				got++
			}
		}
		if len(list) != 10 || len(problems) > 0 || got != named {
			t.Errorf("%d bytes: %d cases, %d of which know their rule, want %d; %q", bytes, len(list), got, named, problems)
		}
	}
}

// A reader stops when nobody wants more.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, text := range []string{log(result("")+","+result(""), tool), log("7,8", tool), `{"runs":[{` + tool + `,"results":[` + result("") + "," + result("") + "]}]}", `{"version":"2.0.0",`, `{"runs":[{"tool":7,`} {
		n := 0
		for _, err := range (&sarif.Reader{}).Read("x", strings.NewReader(text)) {
			t.Log(err)
			n++
			break
		}
		if n != 1 {
			t.Errorf("%d", n)
		}
	}
}
