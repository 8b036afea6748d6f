package measure

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Bounds of what is written.
const (
	mostNats   = 20   // of any figure of a profile
	leastNats  = 0.01 // a weight below that is left out
	leastProb  = 1e-9
	mostLabels = 32 // up to so many labels every source's table has a statement for each
)

// profile writes a linear model down. Which cases it was fitted on says how
// often each thing is said, and how far sources may go; the signals together go as far as most.
func (c *corpus) profile(m *linear, name string, train []int, most float64) *abi.Profile {
	u := c.usage(train)
	base := slices.Clone(m.nats(m.base, 0))
	p := &abi.Profile{Name: name, Sources: []abi.SourceReliability{}, Signals: c.signals(m, base, u)}
	for s := range c.sources {
		if u.speaks[s] == 0 {
			continue
		}
		r := c.reliability(m, s, base, u)
		if s == 0 {
			p.Light = r
		} else {
			p.Sources = append(p.Sources, *r)
		}
	}
	slices.SortFunc(p.Sources, func(a, b abi.SourceReliability) int { return cmp.Compare(a.Source, b.Source) })
	p.BaseRates = c.weights(softmax(base))
	c.setCaps(p, train, most)
	return p
}

// usage is how often cases of a set hold what a model speaks of.
type usage struct {
	cases  float64
	base   []float64 // smoothed frequency of each label
	speaks []float64 // by source: cases in which it speaks
	once   []bool    // by source: it says one thing in every case
	said   []float64 // by statement
	by     []float64 // by element statement
	logit  []float64 // by source: mean of what it states with a label
	varies []bool    // by source: it doesn't always state the same
	stands []float64 // by phrase
}

func (c *corpus) usage(train []int) *usage {
	n := len(c.sources)
	u := &usage{
		float64(len(train)), softmax(c.frequencies(train)), make([]float64, n), make([]bool, n), make([]float64, len(c.statements)),
		make([]float64, len(c.elements)), make([]float64, n), make([]bool, n), make([]float64, len(c.phrases)),
	}
	first, named, several := make([]*utterance, n), make([]float64, n), make([]bool, n)
	for _, i := range train {
		s := &c.samples[i]
		spoke := make(map[int]bool)
		for k := range s.uttered {
			x := &s.uttered[k]
			u.said[x.statement]++
			several[x.source] = several[x.source] || spoke[x.source]
			if !spoke[x.source] {
				spoke[x.source] = true
				u.speaks[x.source]++
			}
			if x.says != noLabel {
				named[x.source]++
				u.logit[x.source] += x.logit
				first[x.source] = cmp.Or(first[x.source], x)
				u.varies[x.source] = u.varies[x.source] || first[x.source].logit != x.logit
			}
		}
		for _, e := range s.elements {
			u.by[e]++
		}
		for _, f := range s.phrases {
			u.stands[f]++
		}
	}
	for s := range n {
		u.logit[s] /= max(named[s], 1)
		u.once[s] = !several[s] && u.speaks[s] == u.cases
	}
	return u
}

// reliability writes one source down. What its statements tell on average goes to
// the base rates where it speaks in every case: only differences count.
func (c *corpus) reliability(m *linear, s int, base []float64, u *usage) *abi.SourceReliability {
	r := &abi.SourceReliability{Source: c.sources[s], Statements: []abi.SourceStatement{}, Share: 1}
	offset, slope := m.x[m.offset+s], bounded(m.x[m.slope+s])
	if slope < leastNats || !u.varies[s] {
		offset, slope = offset+slope*u.logit[s], 0
	}
	fold := c.same && len(c.labels) <= mostLabels
	says, nats, said := c.saidBy(m, s, u, fold)
	if fold {
		for i, label := range says {
			if label != noLabel {
				nats[i][label] += offset + slope*u.logit[s]
			}
		}
		offset = -slope * u.logit[s]
	}
	if u.once[s] {
		for l := range base {
			mean := 0.0
			for i := range says {
				mean += said[i] / u.cases * nats[i][l]
			}
			for i := range says {
				nats[i][l] -= mean
			}
			base[l] += mean
		}
	}
	for i, label := range says {
		given := c.given(nats[i], (said[i]+0.01)/(u.speaks[s]+0.01*float64(len(says))), u.base)
		r.Statements = append(r.Statements, abi.SourceStatement{Says: c.labelOf(label), Given: given, Elements: c.byElement(m, statement{s, label}, u)})
	}
	if slope > 0 || offset != 0 {
		r.Stated = &abi.LogitMap{Offset: round(bounded(offset)), Slope: round(slope)}
		if slope > 0 {
			r.Stated.Range = c.ranges[s]
		}
	}
	return r
}

// byElement gives what it tells by which element a statement is made.
func (c *corpus) byElement(m *linear, of statement, u *usage) []abi.ElementLikelihood {
	var out []abi.ElementLikelihood
	for i, x := range c.elements {
		if c.statements[x.statement] != of || !m.tabled || u.by[i] == 0 {
			continue
		}
		if nats := m.nats(m.element, i); spread(nats) >= leastNats {
			out = append(out, abi.ElementLikelihood{Element: x.element, Given: c.given(nats, u.by[i]/u.said[x.statement], u.base)})
		}
	}
	return out
}

// saidBy gives what a source says, in the order of the labels and without a label last: its nats by label, and in how
// many cases it was said. With all, labels that it never named are there too.
func (c *corpus) saidBy(m *linear, s int, u *usage, all bool) (says []int, nats [][]float64, said []float64) {
	for _, label := range append(places(len(c.labels)), noLabel) {
		own, n := make([]float64, len(c.labels)), 0.0
		if i := slices.Index(c.statements, statement{s, label}); i >= 0 && u.said[i] > 0 {
			copy(own, m.stating(i))
			n = u.said[i]
		}
		if n > 0 && m.tabled || all && (n > 0 || label != noLabel) {
			says, nats, said = append(says, label), append(nats, own), append(said, n)
		}
	}
	return says, nats, said
}

// given turns nats into probabilities of the statement, given each label, of which the mean over the labels is how often it is said.
func (c *corpus) given(nats []float64, marginal float64, base []float64) []abi.LabelWeight {
	sum, largest := 0.0, slices.Max(nats)
	for l, x := range nats {
		sum += base[l] * math.Exp(x-largest)
	}
	scale := min(marginal/sum, 1)
	p := make([]float64, len(nats))
	for l, x := range nats {
		p[l] = scale * math.Exp(x-largest)
	}
	return c.weights(p)
}

// weights are probabilities with their labels.
func (c *corpus) weights(p []float64) []abi.LabelWeight {
	out := make([]abi.LabelWeight, len(p))
	for l := range p {
		out[l] = abi.LabelWeight{Label: c.labels[l], Weight: round(max(p[l], leastProb))}
	}
	return out
}

// signals writes the phrases down that tell most, the strongest first. What the others tell on average goes to the base rates.
func (c *corpus) signals(m *linear, base []float64, u *usage) []abi.Signal {
	type weighed struct {
		phrase int32
		worth  float64
		nats   []float64
	}
	list := make([]weighed, 0, len(m.phrases))
	for f, at := range m.phrases {
		share := u.stands[f] / u.cases
		nats := centred(m.nats(m.text, at))
		list = append(list, weighed{f, spread(nats) * math.Sqrt(share*(1-share)), nats})
	}
	slices.SortFunc(list, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(a.phrase, b.phrase))
	})
	out := []abi.Signal{}
	for i, w := range list {
		if i >= mostSignals || spread(w.nats) < leastNats {
			addTo(base, w.nats, u.stands[w.phrase]/u.cases)
			continue
		}
		signal := abi.Signal{Phrase: c.phrases[w.phrase], Weights: []abi.LabelWeight{}}
		for l, x := range w.nats {
			if math.Abs(x) >= leastNats/10 {
				signal.Weights = append(signal.Weights, abi.LabelWeight{Label: c.labels[l], Weight: round(bounded(x))})
			}
		}
		out = append(out, signal)
	}
	return out
}

func centred(v []float64) []float64 {
	level := mean(v, places(len(v)))
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x - level
	}
	return out
}

func spread(v []float64) float64 { return slices.Max(v) - slices.Min(v) }

func bounded(x float64) float64 { return min(max(x, -mostNats), mostNats) }

// round keeps four digits.
func round(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return y
}

//go:embed profile.tmpl
var profileFile string

// indentedSource is a source at a depth of the file.
type indentedSource struct {
	Indent string
	Source *abi.SourceReliability
}

// WriteYAML writes the profile with what was found out about it as comments. The same result gives the same bytes.
func (r *Fitted) WriteYAML(w io.Writer) error {
	t, err := template.New("").Funcs(template.FuncMap{
		"scalar": scalar, "quoted": quoted, "weights": weightList,
		"number": func(x any) string {
			if p, ok := x.(*float64); ok {
				return figure(*p)
			}
			return figure(x.(float64)) //nolint:forcetypeassert // all other figures are floats
		},
		"percent":  func(share *float64) string { return fmt.Sprintf("%.1f", 100**share) },
		"indented": func(indent string, s *abi.SourceReliability) indentedSource { return indentedSource{indent, s} },
		"source":   func(s abi.SourceReliability) *abi.SourceReliability { return &s },
	}).Parse(strings.TrimSuffix(profileFile, "\n"))
	if err != nil {
		return err
	}
	return t.Execute(w, r)
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

// quoted gives a string in double quotes, so that YAML reads it back to the byte. What isn't printable is escaped: YAML rejects or folds
// some of it raw, and a person who reads the profile should see it. For valid UTF-8 all of Go's escapes are YAML's too.
func quoted(s string) string { return strconv.Quote(s) }
