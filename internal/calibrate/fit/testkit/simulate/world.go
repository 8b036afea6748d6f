package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Witness is a source that speaks for labels.
type Witness struct {
	Name string
	// Accuracy is P(right), the same for every label unless Confuses.
	Accuracy float64
	// Spread of the accuracy from case to case, which a Calibrated witness knows.
	Spread float64
	// Says is a label that it always names; empty for what it thinks.
	Says string
	// States is its confidence; 0 states the true probability.
	States float64
	// Distort multiplies the logit of what it would state; 0 counts as 1.
	Distort float64
	// Copies is the name of an earlier witness that it repeats with this probability.
	Copies   string
	CopyRate float64
	// Speaks is how often it speaks; 0 counts as always.
	Speaks float64
	// Names is how often an item of it names a label when it speaks; 0 counts as always.
	Names float64
	// Confuses: takes every odd label for the one before it.
	Confuses bool
	// Hidden: nobody hears it; others may copy it, and err alike.
	Hidden bool
	// Only names this label, where it thinks that it is so, and is silent otherwise.
	Only string
}

// World is what cases are drawn from.
type World struct {
	Labels []string
	// Base rates; nil is even.
	Base      []float64
	Light     Witness
	Witnesses []Witness
	// Text writes a document for a label; nil writes none.
	Text func(r *rand.Rand, label int, group int) string
	// Groups the cases belong to; 0 is none.
	Groups int
}

// Draw draws n cases.
func (w *World) Draw(r *rand.Rand, n int) []docket.Entry {
	out := make([]docket.Entry, n)
	for i := range out {
		truth := w.label(r)
		group := 0
		c := abi.Case{ID: "case-" + strconv.Itoa(i), Subject: "a case", Labels: w.Labels}
		if w.Groups > 0 {
			group = r.IntN(w.Groups)
			c.Group = "group-" + strconv.Itoa(group)
		}
		light := w.Light
		light.Name = "light"
		says, confidence, _ := w.ask(r, &light, truth, nil)
		c.Light = &abi.LightAnswer{Classification: says, Confidence: confidence}
		w.hear(r, &c, truth)
		if w.Text != nil {
			c.Documents = []abi.Document{{Name: "log", Text: w.Text(r, truth, group)}}
		}
		out[i] = docket.Entry{Case: c, Truth: &trial.Truth{Classification: w.Labels[truth]}, Source: "simulated", Line: i + 1}
	}
	return out
}

func (w *World) label(r *rand.Rand) int {
	if w.Base == nil {
		return r.IntN(len(w.Labels))
	}
	x := r.Float64()
	for j, p := range w.Base {
		if x -= p; x < 0 {
			return j
		}
	}
	return len(w.Base) - 1
}

// statement is what a witness said of the case.
type statement struct {
	says       string
	confidence float64
}

func (w *World) hear(r *rand.Rand, c *abi.Case, truth int) {
	said := map[string]statement{"light": {c.Light.Classification, c.Light.Confidence}}
	for i := range w.Witnesses {
		x := &w.Witnesses[i]
		if x.Speaks > 0 && r.Float64() >= x.Speaks {
			continue
		}
		says, confidence, ok := w.ask(r, x, truth, said)
		if !ok {
			continue
		}
		said[x.Name] = statement{says, confidence}
		if x.Hidden {
			continue
		}
		if x.Names > 0 && r.Float64() >= x.Names {
			says = ""
		}
		c.Evidence = append(c.Evidence, abi.Evidence{
			SourceRef: x.Name + ":" + strconv.Itoa(i), Content: fmt.Sprintf("%s looked at case %s", x.Name, c.ID),
			RelevanceConfidence: confidence, Supports: says,
		})
	}
}

// ask asks one witness; ok is false where it is silent.
func (w *World) ask(r *rand.Rand, x *Witness, truth int, said map[string]statement) (says string, confidence float64, ok bool) {
	k := len(w.Labels)
	if earlier, found := said[x.Copies]; found && r.Float64() < x.CopyRate {
		return earlier.says, x.state(earlier.confidence), true
	}
	accuracy := logistic(logit(x.Accuracy) + x.Spread*r.NormFloat64())
	thinks := truth
	if r.Float64() >= accuracy {
		thinks = (truth + 1 + r.IntN(k-1)) % k
	}
	if x.Confuses {
		thinks -= thinks % 2
	}
	says = w.Labels[thinks]
	if x.Only != "" && says != x.Only {
		return "", 0, false
	}
	if x.Says != "" {
		says = x.Says
	}
	return says, x.state(accuracy), true
}

func (x *Witness) state(p float64) float64 {
	if x.States > 0 {
		return x.States
	}
	if x.Distort > 0 {
		p = logistic(x.Distort * logit(p))
	}
	return math.Round(min(max(p, 0.01), 0.99)*100) / 100
}

func logit(p float64) float64    { return math.Log(p / (1 - p)) }
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Names gives k labels.
func Names(k int) []string {
	return strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota")[:k]
}
