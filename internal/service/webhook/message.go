package webhook

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"strconv"
	"strings"
	"text/template"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// view is what templates show of an event. Texts are sanitized, have one line and at most 200 characters; templates escape them for their
// target. What an event has nothing of is empty.
type view struct {
	Conclusion string // such as "2 failures are yours, 1 is open"
	Title      string // what it is about, such as "shop: build-17 (9ab12cd)"
	URL        string // of the page; empty without --public-url
	// Failures are at most 5 that are yours or open, More counts the others of these.
	Failures []failure
	More     int
}

// failure is one of a docket.
type failure struct {
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
)

// message makes the body of an event.
type message func(*view, *store.HookEvent) ([]byte, error)

// formats are the messages of this package.
var formats = map[string]message{
	formatJSON:  envelope,
	formatSlack: templated("slack.tmpl"),
	formatTeams: templated("teams.tmpl"),
}

// envelope is an event in the form that the Standard Webhooks specification recommends.
func envelope(v *view, e *store.HookEvent) ([]byte, error) {
	return json.Marshal(map[string]any{"type": e.Type, "timestamp": e.Time, "data": struct {
		URL        string                `json:"url,omitempty"`
		Conclusion string                `json:"conclusion"`
		Docket     *store.HookDocket     `json:"docket,omitempty"`
		Correction *store.HookCorrection `json:"correction,omitempty"`
		Generation *store.HookGeneration `json:"generation,omitempty"`
	}{v.URL, v.Conclusion, e.Docket, e.Correction, e.Generation}})
}

//go:embed templates/*.tmpl
var templates embed.FS

// templated makes messages by a template, whose output is JSON.
func templated(name string) message {
	t := template.Must(template.New(name).Funcs(template.FuncMap{
		"json": quoted, "slack": slackText, "slackCode": slackCode, "cut": func(n int, s string) string { return cut(s, n) },
	}).ParseFS(templates, "templates/"+name))
	return func(v *view, _ *store.HookEvent) ([]byte, error) {
		var out, compact bytes.Buffer
		if err := t.Execute(&out, v); err != nil {
			return nil, err
		}
		err := json.Compact(&compact, out.Bytes())
		return compact.Bytes(), err
	}
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

// viewOf gives what templates show of an event. base begins the addresses of pages; empty for none.
func viewOf(base string, e *store.HookEvent) *view {
	v := &view{}
	page := func(path string) string {
		if base == "" {
			return ""
		}
		return base + path
	}
	switch {
	case e.Docket != nil:
		v.docket(e.Docket, page)
	case e.Correction != nil:
		c := e.Correction
		did := " corrected "
		if c.Undone {
			did = " undid the correction of "
		}
		v.Conclusion = plain(c.Author) + did + plural(c.Trials, "trial") + " to " + plain(c.Label)
		v.Title = plain(c.Repository)
		if len(c.First) > 0 {
			v.URL = page("/trials/" + c.First[0].String())
		}
	case e.Generation != nil:
		number := strconv.FormatInt(e.Generation.ID, 10)
		v.URL = page("/modules/" + number)
		v.Conclusion = "generation " + number + " of the modules is in force"
		v.Title = plain(e.Generation.Note)
	}
	return v
}

func (v *view) docket(d *store.HookDocket, page func(string) string) {
	number := strconv.FormatInt(d.ID, 10)
	v.URL = page("/dockets/" + number)
	v.Title = plain(cmp.Or(d.Name, "docket "+number))
	if d.Repository != "" {
		v.Title = plain(d.Repository) + ": " + v.Title
	}
	if d.Revision != "" {
		v.Title += " (" + cut(plain(d.Revision), 12) + ")"
	}
	v.Conclusion = conclusion(d)
	for i := range d.Failures {
		f := &d.Failures[i]
		if f.Verdict != string(alibi.IsYours) && f.Verdict != string(alibi.IsOpen) || len(v.Failures) == shownFailures {
			continue
		}
		shown := failure{
			Case: plain(cmp.Or(f.Case, f.Subject, "trial "+f.Trial.String())), Subject: plain(f.Subject), About: plain(f.About), Verdict: f.Verdict,
			Label: plain(cmp.Or(f.LabelName, f.Label)), Culprit: plain(f.Culprit), URL: page("/trials/" + f.Trial.String()),
		}
		if f.Label != "" {
			shown.Confidence = strconv.FormatFloat(f.Confidence, 'f', 2, 64)
		}
		v.Failures = append(v.Failures, shown)
	}
	v.More = d.Yours + d.Open - len(v.Failures)
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
