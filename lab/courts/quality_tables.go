package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

// scored are a model's answers to cases: whether each is right, how sure it is, and the log loss.
type scored struct {
	right  []bool
	stated []float64
	loss   []float64
	group  []string
}

const leastProbability = 1e-3

func (s *scored) add(name string, entries []docket.Entry, list answers) {
	for i := range entries {
		c, p := &entries[i].Case, list[i]
		top := slices.Index(p, slices.Max(p))
		truth := slices.Index(c.Labels, entries[i].Truth.Classification)
		s.right = append(s.right, top == truth)
		s.stated = append(s.stated, min(p[top], 1))
		s.loss = append(s.loss, -math.Log(max(p[truth], leastProbability)))
		group := c.Group
		if group == "" {
			group = c.ID
		}
		s.group = append(s.group, name+" "+group)
	}
}

func (s *scored) accuracy() float64 {
	n := 0.0
	for _, r := range s.right {
		n += number(r)
	}
	return n / float64(len(s.right))
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// measures are log loss, ECE and AURC.
func (s *scored) measures() string {
	loss := 0.0
	for _, x := range s.loss {
		loss += x / float64(len(s.loss))
	}
	return fmt.Sprintf("%.3f | %.3f | %.3f", loss, *s.reliability(1).ECE, s.aurc())
}

// aurc is the area under the curve of risk over coverage: the mean of the share of wrong answers among the surest, answers of equal confidence
// in any order.
func (s *scored) aurc() float64 {
	order := make([]int, len(s.right))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.stated[b], s.stated[a]) })
	area, wrong := 0.0, 0.0
	for i := 0; i < len(order); {
		equal, amiss := i, 0.0
		for ; equal < len(order) && s.stated[order[equal]] == s.stated[order[i]]; equal++ {
			amiss += number(!s.right[order[equal]])
		}
		for j := i + 1; j <= equal; j++ {
			area += (wrong + amiss*float64(j-i)/float64(equal-i)) / float64(j)
		}
		i, wrong = equal, wrong+amiss
	}
	return area / float64(len(order))
}

// minus is the difference of accuracies in points, with a 95 % interval by the variance of the sums of groups.
func (s *scored) minus(o *scored) string {
	n, mean := float64(len(s.right)), 0.0
	for i := range s.right {
		mean += (number(s.right[i]) - number(o.right[i])) / n
	}
	sums := map[string]float64{}
	for i := range s.right {
		sums[s.group[i]] += number(s.right[i]) - number(o.right[i]) - mean
	}
	squares := []float64{}
	for _, x := range sums {
		squares = append(squares, x*x)
	}
	slices.Sort(squares) // sums of floats depend on the order
	variance := 0.0
	for _, x := range squares {
		variance += x
	}
	half := 1.96 * math.Sqrt(variance) / n
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100*mean, 100*(mean-half), 100*(mean+half))
}

// of scores what pick gives of each docket together.
func of(list []*half, pick func(h *half) answers) *scored {
	s := &scored{}
	for _, h := range list {
		s.add(h.name, h.tried, pick(h))
	}
	return s
}

func qualityTables(list []*half) []study.Table {
	return []study.Table{{Name: "accuracy", Text: accuracyTable(list)}, {Name: "confidence", Text: confidenceTable(list)}, {Name: "calibration", Text: calibrationTable(list)}, {Name: "attacks", Text: attackTable(list)}, {Name: "texts", Text: textTable(list)}, {Name: "curve", Text: curveTable(list)}, {Name: "shuffled", Text: shuffledTable(list)}}
}

func head(columns ...string) string {
	return "| " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat(" --- |", len(columns)) + "\n"
}

func accuracyTable(list []*half) string {
	columns := []string{"docket", "cases", court}
	for _, name := range peers() {
		columns = append(columns, name+"; court minus it")
	}
	var b strings.Builder
	b.WriteString(head(columns...))
	row := func(name string, some []*half) {
		own := of(some, func(h *half) answers { return h.plain[court] })
		fmt.Fprintf(&b, "| %s | %d | %.3f |", name, len(own.right), own.accuracy())
		for _, peer := range peers() {
			theirs := of(some, func(h *half) answers { return h.plain[peer] })
			fmt.Fprintf(&b, " %.3f; %s |", theirs.accuracy(), own.minus(theirs))
		}
		b.WriteString("\n")
	}
	for _, h := range list {
		row("`"+h.name+"`", []*half{h})
	}
	row("all", list)
	return b.String()
}

func confidenceTable(list []*half) string {
	var b strings.Builder
	b.WriteString(head("model", "log loss", "ECE", "AURC"))
	for _, name := range append([]string{court}, peers()...) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, of(list, func(h *half) answers { return h.plain[name] }).measures())
	}
	return b.String()
}

func attackTable(list []*half) string {
	var b strings.Builder
	b.WriteString(head("attack", "the court", "lost", tfidf, "lost", "largest loss of the court on one docket"))
	for _, a := range append([]attack{{name: "none"}}, attacks(nil, nil, 0)...) {
		cells, worst := []string{a.name}, math.Inf(-1)
		for _, model := range []string{court, tfidf} {
			pick := func(h *half) answers {
				if a.change == nil {
					return h.plain[model]
				}
				return h.attacked[a.name][model]
			}
			before := of(list, func(h *half) answers { return h.plain[model] }).accuracy()
			after := of(list, pick).accuracy()
			cells = append(cells, fmt.Sprintf("%.3f", after), fmt.Sprintf("%+.1f", 100*(before-after)))
			for _, h := range list {
				one := []*half{h}
				if model == court {
					worst = max(worst, of(one, func(h *half) answers { return h.plain[court] }).accuracy()-of(one, pick).accuracy())
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %+.1f |\n", strings.Join(cells, " | "), 100*worst)
	}
	return b.String()
}

// textTable has, for each way to trust texts, what is right, what the fit says that a text could turn, and what phrases cost.
func textTable(list []*half) string {
	var b strings.Builder
	b.WriteString(head("docket", "`fit`: right", "a text turns at most", "lost", "`--trust-text`: right", "a text turns at most", "lost", "`--no-text`: right"))
	row := func(name string, some []*half) {
		fmt.Fprintf(&b, "| %s |", name)
		for i := range some[0].trusts {
			turns, n := 0.0, 0.0
			for _, h := range some {
				turns, n = turns+h.trusts[i].turns*float64(len(h.tried)), n+float64(len(h.tried))
			}
			plain := of(some, func(h *half) answers { return h.trusts[i].plain }).accuracy()
			under := of(some, func(h *half) answers { return h.trusts[i].attacked }).accuracy()
			fmt.Fprintf(&b, " %.3f | %.1f | %+.1f |", plain, 100*turns/n, 100*(plain-under))
		}
		fmt.Fprintf(&b, " %.3f |\n", of(some, func(h *half) answers { return h.noText }).accuracy())
	}
	for _, h := range list {
		row("`"+h.name+"`", []*half{h})
	}
	row("all", list)
	return b.String()
}

func curveTable(list []*half) string {
	var b strings.Builder
	names := []string{court, "logistic regression", tfidf}
	b.WriteString(head("labelled cases", court, "logistic regression", tfidf, "picture: C court, L and T the regressions, from 0.2 to 0.8"))
	row := func(name string, pick func(h *half, model string) answers) {
		line := []byte(strings.Repeat(".", 61))
		cells := []string{name}
		for i, model := range names {
			x := of(list, func(h *half) answers { return pick(h, model) }).accuracy()
			cells = append(cells, fmt.Sprintf("%.3f", x))
			line[int(math.Round(100*min(max(x-0.2, 0), 0.6)))] = "CLT"[i]
		}
		fmt.Fprintf(&b, "| %s | `%s` |\n", strings.Join(cells, " | "), line)
	}
	for _, n := range sizes() {
		row(strconv.Itoa(n), func(h *half, model string) answers { return h.few[n][model] })
	}
	row("all (330 to 416)", func(h *half, model string) answers { return h.plain[model] })
	return b.String()
}

func shuffledTable(list []*half) string {
	var b strings.Builder
	b.WriteString(head("docket", "the court without a profile", "the court, fitted on shuffled labels", "logistic regression", tfidf))
	for _, h := range list {
		one := []*half{h}
		fmt.Fprintf(&b, "| `%s` | %.3f |", h.name, of(one, func(h *half) answers { return h.without }).accuracy())
		for _, model := range []string{court, "logistic regression", tfidf} {
			mean := 0.0
			for i := range h.shuffled {
				mean += of(one, func(h *half) answers { return h.shuffled[i][model] }).accuracy() / float64(len(h.shuffled))
			}
			fmt.Fprintf(&b, " %.3f |", mean)
		}
		b.WriteString("\n")
	}
	return b.String()
}
