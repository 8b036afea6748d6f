package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// TerminalOptions say what the text for people is written to.
type TerminalOptions struct {
	// Width in columns, that of the terminal or the one that the user asks for; 0 when there is neither: then only the last
	// column of a table is shortened to fit 120.
	Width int
	// Colour writes ANSI colours. Set it only for a terminal, and not when NO_COLOR is set.
	Colour bool
}

// columns is the width of texts.
func (o TerminalOptions) columns() int {
	if o.Width > 0 {
		return o.Width
	}
	return 120
}

// paint is an SGR colour code.
type paint string

const (
	bold    paint = "1"
	faint   paint = "2"
	red     paint = "31"
	green   paint = "32"
	yellow  paint = "33"
	blue    paint = "34"
	cyan    paint = "36"
	magenta paint = "35"
	struck  paint = "9"
	plain   paint = ""
)

func (o TerminalOptions) paint(p paint, s string) string {
	if !o.Colour || p == plain || s == "" {
		return s
	}
	return "\x1b[" + string(p) + "m" + s + "\x1b[0m"
}

func statusPaint(s trial.Status) paint {
	switch s {
	case trial.Accepted, trial.Affirmed:
		return green
	case trial.Amended:
		return cyan
	case trial.Acquitted:
		return yellow
	case trial.Mistrial:
		return red
	case trial.Unreviewed, trial.Rejected:
		return faint
	}
	return plain
}

// personaPaint follows the element, which every persona has, so that personas of other pipelines have a colour too.
func personaPaint(p abi.Persona) paint {
	switch p.Element {
	case abi.Fire:
		return red
	case abi.Water:
		return blue
	case abi.Earth:
		return green
	case abi.Air:
		return yellow
	case abi.Diamond:
		return cyan
	case abi.Lightning:
		return magenta
	}
	return bold
}

// snip makes text fit for one line of at most width columns.
func snip(s string, width int) string {
	if len(s) > 4*width+16 { // don't clean megabytes to show a line
		s = strings.ToValidUTF8(s[:4*width+16], "")
	}
	return text.Snip(sanitize.Line(s), width, "…")
}

// snipStart makes text fit as snip does, and keeps its end: what tells ids apart stands there.
func snipStart(s string, width int) string {
	if most := 4*width + 16; len(s) > most {
		s = strings.ToValidUTF8(s[len(s)-most:], "")
	}
	s = sanitize.Line(s)
	if text.StringWidthWithoutEscSequences(s) <= width {
		return s
	}
	runes, taken := []rune(s), 1 // for the mark
	for i, r := range slices.Backward(runes) {
		if taken += text.RuneWidth(r); taken > width {
			return "…" + string(runes[i+1:])
		}
	}
	return s
}

// wrap breaks text into lines of at most width columns. The text's own line breaks stay.
func wrap(s string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(sanitize.Block(s), "\n") {
		line = strings.ReplaceAll(strings.TrimRight(line, " \t"), "\t", "    ")
		lines = append(lines, strings.Split(text.WrapSoft(line, width), "\n")...)
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// quoted wraps text of somebody else. One of several lines stands behind a bar, so that no line of it looks like one of ours.
func quoted(s string, width int) []string {
	const bar = "│ "
	s = strings.TrimRight(s, "\r\n \t")
	if !strings.Contains(s, "\n") {
		return wrap(s, width)
	}
	lines := wrap(s, width-len("| "))
	for i := range lines {
		lines[i] = strings.TrimRight(bar+lines[i], " ")
	}
	return lines
}

func number(v float64) string { return trial.Number(v) }

func weight(v float64) string { return trial.Weight(v) }

func percent(n, of int) string {
	if of == 0 {
		return "none"
	}
	return strconv.FormatFloat(100*float64(n)/float64(of), 'f', 1, 64) + "%"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
