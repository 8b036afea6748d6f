package webhook

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Message is what templates show of an event. Texts are sanitized, have one line and at most 200 characters; templates escape them for their
// target. What an event has nothing of is empty.
type Message struct {
	ID, Type, Time string // of the header webhook-id; the event; when it happened, as RFC 3339 has it
	Conclusion     string // such as "2 failures are yours, 1 is open"
	Title          string // what it is about, such as "shop: build-17 (9ab12cd)"
	URL            string // of the page; empty without --public-url
	Repository     string
	Revision       string
	State          string // of a docket: done or cancelled
	Cases, Faults  int
	// Yours, NotYours and Open count failures.
	Yours, NotYours, Open int
	// Failures are at most 5 that are yours or open, More counts the others of these.
	Failures []Failure
	More     int
	// Label, Author and Trials are those of a correction. A generation has an Author, too.
	Label, Author string
	Trials        int
}

// Failure is one of a docket.
type Failure struct {
	Case, Subject, About string
	Verdict              string // yours or open
	Label                string // for people
	Confidence           string // such as 0.97; empty without a label
	Culprit              string // commit
	URL                  string // of the trial; empty without --public-url
}

const (
	shownFailures = 5
	mostText      = 200 // characters
	// mostBody bounds a message. Teams takes 28 KB, and Slack more than the templates make.
	mostBody      = 256 << 10
	mostTeamsBody = 28 << 10
)

// message makes the body of an event.
type message func(*Message, *store.HookEvent) ([]byte, error)

// formats are the messages of this package.
var formats = map[string]message{
	formatJSON:  envelope,
	formatSlack: shipped("slack.tmpl", mostBody),
	formatTeams: shipped("teams.tmpl", mostTeamsBody),
}

// envelope is an event in the form that the Standard Webhooks specification recommends.
func envelope(m *Message, e *store.HookEvent) ([]byte, error) {
	return json.Marshal(map[string]any{"type": e.Type, "timestamp": e.Time, "data": struct {
		URL        string                `json:"url,omitempty"`
		Conclusion string                `json:"conclusion"`
		Docket     *store.HookDocket     `json:"docket,omitempty"`
		Correction *store.HookCorrection `json:"correction,omitempty"`
		Generation *store.HookGeneration `json:"generation,omitempty"`
	}{m.URL, m.Conclusion, e.Docket, e.Correction, e.Generation}})
}

//go:embed templates/*.tmpl
var templates embed.FS

func shipped(name string, most int) message {
	text, err := templates.ReadFile("templates/" + name)
	if err == nil {
		var made message
		if made, err = bounded(name, string(text), most); err == nil {
			return made
		}
	}
	panic(err) // it is embedded
}

// templated makes messages by a template of the operator, whose output must be JSON.
func templated(name, text string) (message, error) { return bounded(name, text, mostBody) }

func bounded(name, text string, most int) (message, error) {
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{
		"json": quoted, "slack": slackText, "slackCode": slackCode, "markdown": sanitize.Markdown, "cut": func(n int, s string) string { return cut(s, n) },
	}).Parse(text)
	if err != nil {
		return nil, err
	}
	return func(m *Message, _ *store.HookEvent) ([]byte, error) {
		out := &limited{left: most}
		if err := t.Execute(out, m); err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := json.Compact(&b, out.Bytes()); err != nil {
			return nil, fmt.Errorf("%s gives no JSON: %w", name, err)
		}
		return b.Bytes(), nil
	}, nil
}

// limited is a buffer with a limit.
type limited struct {
	bytes.Buffer

	left int
}

var errLarge = errors.New("the message is too large")

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errLarge
	}
	return l.Buffer.Write(p)
}

// quoted is a value as JSON has it.
func quoted(v any) (string, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

// slackText escapes a text for Slack, as mrkdwn and as plain text: nothing in it is a link or a mention.
func slackText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// slackCode is a text as code of Slack's mrkdwn, in which nothing is bold or an emoji either.
func slackCode(s string) string {
	return "`" + slackText(strings.ReplaceAll(s, "`", "'")) + "`"
}

// cut gives the first n characters of a text.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:max(n-1, 0)]) + "…"
	}
	return s
}

func plain(s string) string { return cut(sanitize.Line(cut(s, mostText)), mostText) }

// view is what templates show. base begins the addresses of pages; empty for none.
func view(id, base string, e *store.HookEvent) *Message {
	m := &Message{ID: id, Type: string(e.Type), Time: e.Time.UTC().Format(time.RFC3339)}
	page := func(path string) string {
		if base == "" {
			return ""
		}
		return base + path
	}
	switch {
	case e.Docket != nil:
		m.docket(e.Docket, page)
	case e.Correction != nil:
		c := e.Correction
		m.Repository, m.Label, m.Author, m.Trials = plain(c.Repository), plain(c.Label), plain(c.Author), c.Trials
		m.Conclusion = m.Author + " corrected " + plural(c.Trials, "trial") + " to " + m.Label
		if c.Undone {
			m.Conclusion = m.Author + " undid the correction of " + plural(c.Trials, "trial") + " to " + m.Label
		}
		m.Title = m.Repository
		if len(c.First) > 0 {
			m.URL = page("/trials/" + c.First[0].String())
		}
	case e.Generation != nil:
		number := strconv.FormatInt(e.Generation.ID, 10)
		m.Author, m.URL = plain(e.Generation.Author), page("/modules/"+number)
		m.Conclusion = "generation " + number + " of the modules is in force"
		m.Title = plain(e.Generation.Note)
	}
	return m
}

func (m *Message) docket(d *store.HookDocket, page func(string) string) {
	m.Repository, m.Revision, m.State = plain(d.Repository), plain(d.Revision), string(d.State)
	m.Cases, m.Faults, m.Yours, m.NotYours, m.Open = d.Cases, d.Faults, d.Yours, d.NotYours, d.Open
	number := strconv.FormatInt(d.ID, 10)
	m.URL = page("/dockets/" + number)
	m.Title = plain(cmp.Or(d.Name, "docket "+number))
	if d.Repository != "" {
		m.Title = m.Repository + ": " + m.Title
	}
	if d.Revision != "" {
		m.Title += " (" + cut(m.Revision, 12) + ")"
	}
	m.Conclusion = conclusion(d)
	for i := range d.Failures {
		f := &d.Failures[i]
		if f.Verdict != string(alibi.IsYours) && f.Verdict != string(alibi.IsOpen) || len(m.Failures) == shownFailures {
			continue
		}
		shown := Failure{
			Case: plain(cmp.Or(f.Case, f.Subject, "trial "+f.Trial.String())), Subject: plain(f.Subject), About: plain(f.About), Verdict: f.Verdict,
			Label: plain(cmp.Or(f.LabelName, f.Label)), Culprit: plain(f.Culprit), URL: page("/trials/" + f.Trial.String()),
		}
		if f.Label != "" {
			shown.Confidence = strconv.FormatFloat(f.Confidence, 'f', 2, 64)
		}
		m.Failures = append(m.Failures, shown)
	}
	m.More = d.Yours + d.Open - len(m.Failures)
}

// conclusion says first what somebody has to do.
func conclusion(d *store.HookDocket) string {
	var text string
	switch {
	case d.Yours > 0 && d.Open > 0:
		text = plural(d.Yours, "failure") + verb(d.Yours) + "yours, " + strconv.Itoa(d.Open) + verb(d.Open) + "open"
	case d.Yours > 0:
		text = plural(d.Yours, "failure") + verb(d.Yours) + "yours"
	case d.Open > 0:
		text = plural(d.Open, "failure") + verb(d.Open) + "open"
	case d.NotYours > 0:
		text = "no failure is yours, of " + strconv.Itoa(d.Cases)
	default:
		text = plural(d.Cases, "failure") + " tried, none is open"
	}
	if d.State != store.Done {
		text = "the docket was " + string(d.State) + "; " + text
	}
	return text
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

func verb(n int) string {
	if n == 1 {
		return " is "
	}
	return " are "
}

// tryAll makes a message of each event that a hook names, so that a template that fails is a fault of the file.
func tryAll(h *Hook) error {
	for _, name := range h.Events {
		e := sample(store.HookEventType(name))
		for _, base := range []string{"", "https://court.example"} {
			if _, err := h.message(view("msg_example", base, e), e); err != nil {
				return fmt.Errorf("with an example of %s: %w", name, err)
			}
		}
	}
	return nil
}

// sample is an example of an event, with signs that need escapes.
func sample(kind store.HookEventType) *store.HookEvent {
	e := &store.HookEvent{Type: kind, Time: time.Unix(0, 0)}
	const text = `a "quoted" \ <b>&`
	switch kind {
	case store.VerdictCorrected:
		e.Correction = &store.HookCorrection{ID: 1, Label: text, Author: text, Repository: text, Trials: 1, First: []store.TrialID{{Docket: 1, Ordinal: 1}}}
	case store.GenerationActivated:
		e.Generation = &store.HookGeneration{ID: 1, Author: text, Note: text}
	case store.DocketFinished, store.FailureYours, store.FailureOpen:
		e.Docket = &store.HookDocket{ID: 1, Name: text, Repository: text, Revision: text, State: store.Done, Cases: 2, Tried: 2, Yours: 1, Open: 1, Failures: []store.HookFailure{
			{Trial: store.TrialID{Docket: 1, Ordinal: 1}, Case: text, Subject: text, About: text, Verdict: string(alibi.IsYours), Label: text, Confidence: 0.97, Culprit: text},
			{Trial: store.TrialID{Docket: 1, Ordinal: 2}, Case: text, Subject: text, About: text, Verdict: string(alibi.IsOpen)},
		}}
	}
	return e
}
