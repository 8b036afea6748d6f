package measure

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// stdStream is the name of the standard output, where a file is asked for.
const stdStream = "-"

// print writes what was found out about a fit.
func (o *fitOptions) print(w io.Writer, r *fit.Report) error {
	if o.format == "json" {
		return writeJSON(w, r)
	}
	_, err := io.WriteString(w, fitText(o.output, r, cli.Terminal(w)))
	return err
}

// fitText tells a report to people.
func fitText(output string, r *fit.Report, terminal render.TerminalOptions) string {
	if output == stdStream {
		output = "standard output"
	}
	what := "learned from %s"
	switch {
	case r.Outcomes > 0 && !r.Learned:
		what = "learned what runs tell, from " + cli.Count(r.Outcomes, "case", "cases") + "; of sources and texts nothing, from %s"
	case r.Temperature != nil:
		what = "nothing learned of sources and texts, %s; the profile changes only how sure the court is (temperature " + two(*r.Temperature) + ")"
	case !r.Learned:
		what = "nothing learned, %s; the profile changes nothing but how much unknown sources count"
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	say("%s: "+what, sanitize.Line(output), cli.Count(r.Cases, "case", "cases"))
	if r.WithoutTruth > 0 {
		say("; %s without a truth left out", cli.Count(r.WithoutTruth, "case", "cases"))
	}
	say("\nmodel: %s\n", r.Model)
	if r.Repeated > 0 {
		say("warning: near duplicates of other cases: %d; each is in one group with those\n", r.Repeated)
	}
	if n := len(r.Contradictions); n > 0 {
		x := &r.Contradictions[0]
		say("warning: %s equal to an earlier one with another ground truth; %s is %s, but %s is %s\n",
			cli.Count(n, "case is", "cases are"), sanitize.Line(x.Case), sanitize.Line(x.Truth), sanitize.Line(x.Other), sanitize.Line(x.OtherTruth))
	}
	for _, warning := range r.Warnings {
		say("warning: %s\n", sanitize.Line(warning))
	}
	say("\n%s", figuresTable(r).Text(terminal))
	if t := r.TextTurns; t != nil && r.Signals > 0 {
		say("\na made-up text could turn about %.1f of 100 answers from right to wrong; with --no-text none\n", 100**t)
	}
	if r.Bands != nil {
		say("\naccept the court's answer %s\n", r.Bands)
	}
	if len(r.Sources) > 0 {
		say("\n%s", sourcesTable(r).Text(terminal))
	}
	return b.String()
}

func figuresTable(r *fit.Report) *render.Grid {
	how := fmt.Sprintf("ON CASES NOT FITTED ON (%d parts)", r.Parts)
	switch {
	case r.Groups == 1:
		how = fmt.Sprintf("ON OTHER CASES OF THE ONE GROUP (%d parts); on no other group", r.Parts)
	case r.Groups > 1:
		how = fmt.Sprintf("ON GROUPS NOT FITTED ON (%d groups, %d parts)", r.Groups, r.Parts)
	}
	g := render.NewGrid(render.Column{Name: how}, render.Column{Name: "ACCURACY", Numbers: true}, render.Column{Name: "LOG LOSS", Numbers: true})
	for _, f := range r.Figures {
		g.Add(f.Name, three(f.Accuracy), three(f.LogLoss))
	}
	return g
}

func sourcesTable(r *fit.Report) *render.Grid {
	g := render.NewGrid(render.Column{Name: "SOURCE"}, render.Column{Name: "SPEAKS", Numbers: true}, render.Column{Name: "NAMES A LABEL", Numbers: true},
		render.Column{Name: "RIGHT", Numbers: true}, render.Column{Name: "WORTH (NATS)", Numbers: true})
	for _, s := range r.Sources {
		right := "–"
		if s.Named > 0 {
			right = three(s.Right)
		}
		g.Add(s.Source, strconv.Itoa(s.Cases), strconv.Itoa(s.Named), right, two(s.Nats))
	}
	if r.Signals > 0 {
		g.Add(cli.Count(r.Signals, "signal", "signals"), "", "", "", two(r.SignalNats))
	}
	return g
}

func two(x float64) string   { return strconv.FormatFloat(x, 'f', 2, 64) }
func three(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
