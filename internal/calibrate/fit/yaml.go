package fit

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// WriteYAML writes the profile with what was found out about it as comments.
// The same result gives the same bytes.
func (r *Result) WriteYAML(w io.Writer) error {
	var b bytes.Buffer
	r.Report.comment(&b)
	p := r.Profile
	fmt.Fprintf(&b, "\nname: %s\n", scalar(p.Name))
	if p.Temperature != nil {
		fmt.Fprintf(&b, "\n# The log-odds of everything but experiments are divided by it: the court is less sure of the same answer.\ntemperature: %s\n", figure(*p.Temperature))
	}
	b.WriteString("\n# P(label) before any evidence.\n")
	b.WriteString("base_rates: " + weightList(p.BaseRates) + "\n")
	if p.Light != nil {
		b.WriteString("\n# What Light's answer is worth inside the court. Activation keeps using the confidence that it states.\nlight:\n")
		writeSource(&b, p.Light, "  ")
	}
	writeSources(&b, p.Sources)
	writeSeen(&b, p.Seen)
	writeSignals(&b, p)
	writeCauses(&b, p.Causes)
	writeExperiments(&b, p.Experiments, r.Report.Experiments)
	_, err := w.Write(b.Bytes())
	return err
}

func writeSources(b *bytes.Buffer, list []abi.SourceReliability) {
	b.WriteString("\n# For each source, how likely it is to say something under each true label, as far as that counts beside the\n" +
		"# other sources; how likely by an item of which element, where it differs; and what the confidence that it states adds to the label that it names: offset + slope*logit(stated).\n")
	if len(list) == 0 {
		b.WriteString("sources: []\n")
		return
	}
	b.WriteString("sources:\n")
	for i := range list {
		var s bytes.Buffer
		writeSource(&s, &list[i], "    ")
		b.WriteString("  - " + strings.TrimPrefix(s.String(), "    "))
	}
}

func writeSeen(b *bytes.Buffer, list []string) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n# Sources of which nothing was learned: they count as without a profile, and all others together little.\nseen:\n")
	for _, source := range list {
		b.WriteString("  - " + scalar(source) + "\n")
	}
}

func writeSource(b *bytes.Buffer, s *abi.SourceReliability, indent string) {
	fmt.Fprintf(b, "%ssource: %s\n", indent, scalar(s.Source))
	if len(s.Statements) == 0 {
		fmt.Fprintf(b, "%sstatements: []\n", indent)
	} else {
		fmt.Fprintf(b, "%sstatements:\n", indent)
	}
	for i := range s.Statements {
		x := &s.Statements[i]
		if len(x.Elements) == 0 {
			fmt.Fprintf(b, "%s  - {says: %s, given: %s}\n", indent, scalar(x.Says), weightList(x.Given))
			continue
		}
		fmt.Fprintf(b, "%s  - says: %s\n%s    given: %s\n%s    elements:\n", indent, scalar(x.Says), indent, weightList(x.Given), indent)
		for k := range x.Elements {
			fmt.Fprintf(b, "%s      - {element: %s, given: %s}\n", indent, x.Elements[k].Element, weightList(x.Elements[k].Given))
		}
	}
	fmt.Fprintf(b, "%sshare: %s\n", indent, figure(s.Share))
	if s.Stated != nil {
		of := ""
		if r := s.Stated.Range; r != nil {
			of = fmt.Sprintf(", range: {least: %s, most: %s}", figure(r.Least), figure(r.Most))
		}
		fmt.Fprintf(b, "%sstated: {offset: %s, slope: %s%s}\n", indent, figure(s.Stated.Offset), figure(s.Stated.Slope), of)
	}
	fmt.Fprintf(b, "%scap: %s\n", indent, figure(s.Cap))
}

func writeSignals(b *bytes.Buffer, p *abi.Profile) {
	b.WriteString("\n# Phrases and the nats that their presence adds to each label, those first that told most in the cases.\n")
	fmt.Fprintf(b, "signal_cap: %s\n", figure(p.SignalCap))
	if s := p.SignalPassage; s != nil {
		fmt.Fprintf(b, "# The most that passages of so many bytes moved two labels apart in nearly all of the cases. What exceeds it was written to\n# hold phrases, which count nothing there and beside it.\nsignal_passage: {bytes: %d, nats: %s}\n", s.Bytes, figure(s.Nats))
	}
	if len(p.Signals) == 0 {
		b.WriteString("signals: []\n")
		return
	}
	b.WriteString("signals:\n")
	for i := range p.Signals {
		fmt.Fprintf(b, "  - {phrase: %s, weights: %s}\n", quoted(p.Signals[i].Phrase), weightList(p.Signals[i].Weights))
	}
}

func writeCauses(b *bytes.Buffer, list []abi.Cause) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n# Ways in which labels come true, and P(cause, and the failing test differs so from that of green | label). Not learned from the cases.\ncauses:\n")
	for i := range list {
		c := &list[i]
		fmt.Fprintf(b, "  - {name: %s, label: %s, unchanged: %s, changed: %s, new: %s}\n", scalar(c.Name), scalar(c.Label), figure(c.Unchanged), figure(c.Changed), figure(c.New))
	}
}

func writeExperiments(b *bytes.Buffer, list []abi.ExperimentTable, worth *ExperimentWorth) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n# What experiments tell: P(outcome | label or cause).\nexperiments:\n")
	for i := range list {
		e := &list[i].Experiment
		if worth == nil {
			b.WriteString("  # Not learned from the cases.\n")
		} else {
			b.WriteString("  # " + worth.Tables[i].said(worth.Smoothing) + ".\n")
		}
		fmt.Fprintf(b, "  - experiment: {product: %s, tests: %s, environment: %s, order: %s, runs: %d}\n", e.Product, e.Tests, e.Environment, e.Order, e.Runs)
		if len(list[i].Outcomes) == 0 {
			b.WriteString("    outcomes: []\n")
			continue
		}
		b.WriteString("    outcomes:\n")
		for _, o := range list[i].Outcomes {
			fmt.Fprintf(b, "      - {outcome: %s, given: %s}\n", o.Outcome, weightList(o.Given))
		}
	}
}

func weightList(list []abi.LabelWeight) string {
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = "{label: " + scalar(list[i].Label) + ", weight: " + figure(list[i].Weight) + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// figure writes a float so that YAML reads it as one.
func figure(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.ContainsRune(s, '.') {
		s += ".0"
	}
	return s
}

// plain is what YAML reads as the string that it looks like.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_/-]*$`)

func scalar(s string) string {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return quoted(s)
	}
	if plain.MatchString(s) {
		return s
	}
	return quoted(s)
}

// quoted gives a string in double quotes, so that YAML reads it back to the
// byte. What isn't printable is escaped: YAML rejects or folds some of it raw,
// and a person who reads the profile should see it. For valid UTF-8 all of Go's
// escapes are YAML's too.
func quoted(s string) string { return strconv.Quote(s) }
