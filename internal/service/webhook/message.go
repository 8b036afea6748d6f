package webhook

import (
	"encoding/json"
	"strconv"

	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// message is an event in the form that the Standard Webhooks specification recommends. base begins the addresses of pages; empty for none.
func message(base string, e *store.HookEvent) ([]byte, error) {
	text, page := about(e)
	if base == "" {
		page = ""
	}
	return json.Marshal(map[string]any{"type": e.Type, "timestamp": e.Time, "data": struct {
		URL        string                `json:"url,omitempty"`
		Conclusion string                `json:"conclusion"`
		Docket     *store.HookDocket     `json:"docket,omitempty"`
		Correction *store.HookCorrection `json:"correction,omitempty"`
		Generation *store.HookGeneration `json:"generation,omitempty"`
	}{base + page, text, e.Docket, e.Correction, e.Generation}})
}

// about says in a sentence what happened, and gives the path of its page.
func about(e *store.HookEvent) (text, page string) {
	switch {
	case e.Docket != nil:
		return conclusion(e.Docket), "/dockets/" + strconv.FormatInt(e.Docket.ID, 10)
	case e.Correction != nil:
		c := e.Correction
		did := " corrected "
		if c.Undone {
			did = " undid the correction of "
		}
		if len(c.First) > 0 {
			page = "/trials/" + c.First[0].String()
		}
		return plain(c.Author) + did + plural(c.Trials, "trial") + " to " + plain(c.Label), page
	case e.Generation != nil:
		number := strconv.FormatInt(e.Generation.ID, 10)
		return "generation " + number + " of the modules is in force", "/modules/" + number
	}
	return "", ""
}

// plain is one line of at most 200 characters.
func plain(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return sanitize.Line(s)
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
