package record_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// Entries that the key signed, and that do not go together, are found, too.
func TestAccept_SE1_SignedEntriesThatDoNotFitAreFound(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	good := func() []*record.Entry {
		return []*record.Entry{
			{Header: formatted(auditHeader())},
			{Generation: &record.Generation{Modules: modules("1")}},
			{Trial: inGeneration(trial("a"), 1)},
			{Trial: inGeneration(trial("b"), 1)},
			{Generation: &record.Generation{Audit: true, Modules: modules("1")}},
			{Trial: inGenerations(audited("c"), 1, 4)},
			{Closing: &record.Closing{Trials: 3}},
		}
	}
	if report := verify(t, chainOf(t, key, good()), key); !report.Complete() {
		t.Fatalf("%+v", report)
	}
	for name, c := range map[string]struct {
		entry  int
		change func([]*record.Entry)
		why    string
	}{
		"a second trial of it":     {3, func(e []*record.Entry) { e[3].Trial.ID = "a" }, `a second trial of the case "a"`},
		"another pipeline":         {0, func(e []*record.Entry) { e[0].Header.Pipeline = "pipeline: b\n" }, `what it holds as "pipeline" has another digest`},
		"another light pipeline":   {0, configured("light pipeline"), "light pipeline"},
		"another profile":          {0, configured("profile"), "profile"},
		"other limits":             {0, configured("limits of the court"), "limits of the court"},
		"another audit pipeline":   {0, configured("audit pipeline"), "audit pipeline"},
		"another rubric":           {0, configured("rubric"), "rubric"},
		"a trial too few":          {6, func(e []*record.Entry) { e[6].Closing.Trials = 4 }, "it closes a record of 4 trials, and there are 3"},
		"another format":           {0, func(e []*record.Entry) { e[0].Header.Format = "2" }, "format"},
		"unknown contents":         {0, func(e []*record.Entry) { e[0].Header.Contents = "all" }, "contents"},
		"no header":                {0, func(e []*record.Entry) { e[0].Header, e[0].Closing = nil, &record.Closing{} }, "header"},
		"a second header":          {3, func(e []*record.Entry) { e[3].Trial, e[3].Header = nil, formatted(header()) }, "header"},
		"another generation":       {2, func(e []*record.Entry) { e[2].Trial.Generation = 0 }, "generation"},
		"modules out of order":     {1, func(e []*record.Entry) { m := e[1].Generation.Modules; m[0], m[1] = m[1], m[0] }, "order"},
		"a module without digest":  {1, func(e []*record.Entry) { e[1].Generation.Modules[0].Digest = "sha256:12" }, "digest"},
		"two contents":             {3, func(e []*record.Entry) { e[3].Closing = &record.Closing{Trials: 1} }, "2 contents"},
		"another result":           {2, func(e []*record.Entry) { e[2].Trial.Result = []byte(`{}`) }, "result"},
		"another content":          {2, func(e []*record.Entry) { e[2].Trial.Contents[0].Bytes = []byte("x") }, "content 0"},
		"an empty event":           {2, func(e []*record.Entry) { e[2].Trial.Events[1] = record.Event{} }, "event 1"},
		"a state without digest":   {2, func(e []*record.Entry) { e[2].Trial.Events[1].Merge = "sha256:12" }, "event 1"},
		"a call without input":     {2, func(e []*record.Entry) { e[2].Trial.Events[0].Call.Input = "" }, "event 0"},
		"a use without answer":     {2, func(e []*record.Entry) { e[2].Trial.Events[0].Call.Uses[0].Answer = "" }, "event 0"},
		"a result without digest":  {2, func(e []*record.Entry) { e[2].Trial.Result, e[2].Trial.ResultDigest = nil, "" }, "result"},
		"no audits by the header":  {4, func(e []*record.Entry) { e[0].Header.Audit = nil }, "the record has none"},
		"an audit without modules": {4, func(e []*record.Entry) { e[4], e[5], e[6] = e[5], e[6], e[4] }, "its audit: its generation of modules is entry 4, and the last one is entry 0"},
		"an audit by the court":    {5, func(e []*record.Entry) { e[5].Trial.Audit.Generation = 1 }, "its audit: its generation"},
		"a trial by the audit":     {5, func(e []*record.Entry) { e[5].Trial.Generation = 4 }, "its generation of modules is entry 4, and the last one is entry 1"},
		"another audit":            {5, func(e []*record.Entry) { e[5].Trial.Audit.Result = []byte(`{}`) }, "its audit: its result has another digest"},
		"an audit without result":  {5, func(e []*record.Entry) { e[5].Trial.Audit.Result = nil }, "its audit: its result"},
		"another global score":     {5, reported(`{"global_score":4.7,"results":[` + fourOf("a") + `]}`), "its audit: its result has the global score 4.7, and the weighted mean of its results is 4.00"},
		"a violation not capped":   {5, reported(`{"global_score":4,"results":[{"criterion_id":"a","weight":1,"numeric_score":4,"security_violation_found":true}]}`), "mean of its results is 3.00"},
		"a criterion twice":        {5, reported(`{"global_score":4,"results":[` + fourOf("a") + `,` + fourOf("a") + `]}`), `its audit: its result has two results of the criterion "a"`},
		"an empty event of audits": {5, func(e []*record.Entry) { e[5].Trial.Audit.Events[1] = record.Event{} }, "its audit: its event 1"},
		"Light in an audit":        {5, func(e []*record.Entry) { e[5].Trial.Audit.Events[1] = record.Event{Light: &record.Light{}} }, "its audit: its event 1"},
		"an unfinished audit call": {5, func(e []*record.Entry) { e[5].Trial.Audit.Events[0].Call.Output = "" }, "its audit: its event 0"},
	} {
		entries := good()
		c.change(entries)
		report := verify(t, chainOf(t, key, entries), key)
		if report.Fault == nil || report.Fault.Entry != c.entry || !strings.Contains(report.Fault.Error(), c.why) {
			t.Errorf("%s: %v", name, report.Fault)
		}
	}
	// The end of one record behind the beginning of another: sequences and signatures fit.
	other := good()
	other[2].Trial.ID = "c"
	one, two := bytes.SplitAfter(chainOf(t, key, good()), []byte("\n")), bytes.SplitAfter(chainOf(t, key, other), []byte("\n"))
	spliced := append(bytes.Join(one[:3], nil), bytes.Join(two[3:], nil)...)
	if report := verify(t, spliced, key); report.Fault == nil || report.Fault.Entry != 3 || !strings.Contains(report.Fault.Error(), "another digest") {
		t.Errorf("spliced: %v", report.Fault)
	}
}

// configured says that the header has another part than it holds.
func configured(name string) func([]*record.Entry) {
	return func(e []*record.Entry) {
		h := e[0].Header
		h.Configuration = append(h.Configuration, record.Part{Name: name, Digest: record.DigestOf([]byte("another"))})
	}
}

func formatted(h *record.Header) *record.Header {
	h.Format = record.Format
	return h
}

// reported gives the audit another result.
func reported(result string) func([]*record.Entry) {
	return func(e []*record.Entry) {
		a := e[5].Trial.Audit
		a.Result, a.ResultDigest = []byte(result), record.DigestOf([]byte(result))
	}
}

func fourOf(criterion string) string {
	return `{"criterion_id":"` + criterion + `","weight":1.5,"numeric_score":4,"security_violation_found":false}`
}

func inGeneration(t *record.Trial, generation int) *record.Trial {
	t.Generation = generation
	return t
}

func inGenerations(t *record.Trial, court, audit int) *record.Trial {
	t.Audit.Generation = audit
	return inGeneration(t, court)
}

// chainOf seals entries one behind the other.
func chainOf(t *testing.T, key *record.Key, entries []*record.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	previous := record.Digest("")
	for i, e := range entries {
		e.Sequence, e.Previous = i, previous
		line := must.Get(record.Seal(key, e))(t)
		previous = record.DigestOf(line)
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes()
}
