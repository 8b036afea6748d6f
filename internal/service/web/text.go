package web

import (
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
)

// functions are those of the templates. Texts of cases go through line or block before they are escaped.
func functions() template.FuncMap {
	return template.FuncMap{
		"line": func(s string) string { return sanitize.Cut(sanitize.Line(s), maxLine) }, "prose": func(s string) string { return sanitize.Cut(sanitize.Block(s), maxBlock) },
		"number": trial.Number, "percent": percent, "plural": plural, "bytes": byteSize, "digest": shortDigest,
		"time": newMoment,
		"join": strings.Join, "key": func(i int) int { return i + 1 },
		"thousands": thousands, "hasKey": func(i int) bool { return i < maxKeys },
		"took": func(all time.Duration, n int) string { return duration(all / time.Duration(max(n, 1))) }, "duration": duration,
		"labelIn": labelOf, "width100": func(share float64) int { return int(share*100 + 0.5) },
		"rows": func(entries []entryView, known bool) any {
			return struct {
				Entries []entryView
				Known   bool
			}{entries, known}
		},
		"scopeMeaning": func(scope auth.Scope) string {
			return map[auth.Scope]string{
				auth.Submit: "submit dockets, follow and cancel them", auth.Review: "correct verdicts", auth.Operate: "swap modules, make tokens, and everything else",
			}[scope]
		},
	}
}

// The longest texts on a page, in bytes; a log has an own window.
const (
	maxLine  = 600
	maxBlock = 4000
)

// maxKeys is how many labels have a key of their own.
const maxKeys = 9

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// thousands writes a number in groups of three.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	return strconv.FormatFloat(100*float64(n)/float64(of), 'f', 1, 64) + "%"
}

// share is n of all as a whole percentage; what is there is never 0.
func share(n, of int) int {
	if of <= 0 || n <= 0 {
		return 0
	}
	return min(max(n*100/of, 1), 100)
}

func byteSize(n int) string {
	switch {
	case n < 1<<10:
		return strconv.Itoa(n) + " B"
	case n < 1<<20:
		return strconv.FormatFloat(float64(n)/(1<<10), 'f', 1, 64) + " KiB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}

// shortDigest shows enough of a digest to tell parts apart.
func shortDigest(s string) string {
	s = strings.TrimPrefix(s, "sha256:")
	return sanitize.Line(s[:min(len(s), 12)])
}

// moment is a time as a page shows it.
type moment struct{ Machine, Full, Ago string }

func newMoment(now, t time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	t = t.UTC()
	return moment{t.Format(time.RFC3339), t.Format("2006-01-02 15:04:05 UTC"), ago(now.Sub(t))}
}

// ago is a duration in its largest unit.
func ago(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min ago"
	case d < day:
		return strconv.Itoa(int(d/time.Hour)) + " h ago"
	case d < 60*day:
		return plural(int(d/day), "day ago", "days ago")
	}
	return plural(int(d/(30*day)), "month ago", "months ago")
}

// duration is a time that something took, with two digits of its unit.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.Itoa(int((d+time.Millisecond/2)/time.Millisecond)) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < 100*time.Minute:
		return strconv.FormatFloat(d.Minutes(), 'f', 1, 64) + " min"
	}
	return strconv.FormatFloat(d.Hours(), 'f', 1, 64) + " h"
}

// labelView is a label as a page shows it: its name, a colour class, and its id where the name is another text.
type labelView struct{ ID, Name, Class, Title string }

// labelOf finds a label among those of a case. The colour is that of its place there, as in reports.
func labelOf(labels []label, id string) labelView {
	const colours = 8
	v := labelView{ID: id, Name: sanitize.Line(id), Class: "l0"}
	i := slices.IndexFunc(labels, func(l label) bool { return l.ID == id })
	if i < 0 {
		return v
	}
	if i < colours {
		v.Class = "l" + strconv.Itoa(i+1)
	}
	return v.named(labels[i].Name)
}

func (v labelView) named(name string) labelView {
	if name == "" {
		return v
	}
	v.Name = sanitize.Line(name)
	v.Title = sanitize.Line(v.ID)
	return v
}

// withQuery gives an address with some parameters set; an empty value removes its parameter.
func withQuery(u *url.URL, pairs ...string) string {
	q := u.Query()
	for _, transient := range []string{"did", "cases", "undo"} {
		q.Del(transient)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			q.Del(pairs[i])
			continue
		}
		q.Set(pairs[i], pairs[i+1])
	}
	if len(q) == 0 {
		return u.Path
	}
	return u.Path + "?" + q.Encode()
}
