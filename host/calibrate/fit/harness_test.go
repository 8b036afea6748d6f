package fit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/calibrate/fit/internal/simulate"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

type score struct{ right, loss, n float64 }

func (s *score) add(p []float64, truth int) {
	best := 0
	for j := range p {
		if p[j] > p[best] {
			best = j
		}
	}
	if best == truth {
		s.right++
	}
	s.loss += -math.Log(max(p[truth], 1e-4))
	s.n++
}

func (s score) String() string { return fmt.Sprintf("%.3f/%.3f", s.right/s.n, s.loss/s.n) }

func votes(s *sample, how string) []float64 {
	p := make([]float64, len(s.labels))
	for i := range s.uttered {
		u := &s.uttered[i]
		for j, l := range s.labels {
			if l != u.says {
				continue
			}
			w := 1.0
			switch how {
			case "confidence":
				w = 1 / (1 + math.Exp(-u.logit))
			case "logodds":
				w = max(0, u.logit+math.Log(float64(len(s.labels)-1)))
			}
			if u.source == 0 {
				w *= 1.0001
			}
			p[j] += w
		}
	}
	sum := 0.0
	for j := range p {
		p[j] += 0.1
		sum += p[j]
	}
	for j := range p {
		p[j] /= sum
	}
	return p
}

func bestWitness(c *corpus, train []int) func(s *sample) []float64 {
	right, n := make([]float64, len(c.sources)), make([]float64, len(c.sources))
	for _, i := range train {
		s := &c.samples[i]
		for _, u := range s.uttered {
			if u.says < 0 {
				continue
			}
			n[u.source]++
			if u.says == s.labels[s.truth] {
				right[u.source]++
			}
		}
	}
	best := 0
	for i := range n {
		if (right[i]+1)/(n[i]+2) > (right[best]+1)/(n[best]+2) {
			best = i
		}
	}
	return func(s *sample) []float64 {
		says := -1
		for _, u := range s.uttered {
			if u.says >= 0 && (u.source == best || u.source == 0 && says < 0) {
				says = u.says
			}
		}
		p := make([]float64, len(s.labels))
		for j, l := range s.labels {
			p[j] = 0.1
			if l == says {
				p[j] = 0.7
			}
		}
		return p
	}
}

// naive Bayes over words (multinomial counts) and what sources say.
func plainBayes(c *corpus, train []int) func(s *sample) []float64 {
	words := func(s *sample) []string {
		var out []string
		for _, t := range texts(&s.entry.Case) {
			out = append(out, strings.FieldsFunc(strings.ToLower(t), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_') })...)
		}
		for _, u := range s.uttered {
			out = append(out, fmt.Sprintf("%d says %d", u.source, u.says))
		}
		return out
	}
	k := len(c.labels)
	count := make([]map[string]float64, k)
	total, prior := make([]float64, k), make([]float64, k)
	vocab := map[string]bool{}
	for l := range count {
		count[l] = map[string]float64{}
	}
	for _, i := range train {
		s := &c.samples[i]
		l := s.labels[s.truth]
		prior[l]++
		for _, w := range words(s) {
			count[l][w]++
			total[l]++
			vocab[w] = true
		}
	}
	return func(s *sample) []float64 {
		z := make([]float64, len(s.labels))
		ws := words(s)
		for j, l := range s.labels {
			z[j] = math.Log((prior[l] + 1) / float64(len(train)+k))
			for _, w := range ws {
				if vocab[w] {
					z[j] += math.Log((count[l][w] + 1) / (total[l] + float64(len(vocab))))
				}
			}
		}
		return softmax(z)
	}
}

func half(entries []docket.Entry, n int) (train, test []int) {
	for i := range entries {
		if i < n {
			train = append(train, i)
		} else {
			test = append(test, i)
		}
	}
	return
}

func TestHarness(t *testing.T) {
	if os.Getenv("FIT_HARNESS") == "" {
		t.Skip("development only")
	}
	sizes := []int{60, 150, 500}
	if v := os.Getenv("FIT_N"); v != "" {
		n, _ := strconv.Atoi(v)
		sizes = []int{n}
	}
	for _, n := range sizes {
		for _, shape := range simulate.Shapes(3) {
			if f := os.Getenv("FIT_SHAPE"); f != "" && !strings.Contains(shape.Name, f) {
				continue
			}
			res := map[string]*score{}
			var order []string
			rec := func(name string, p []float64, truth int) {
				if res[name] == nil {
					res[name] = &score{}
					order = append(order, name)
				}
				res[name].add(p, truth)
			}
			reps := 3
			for rep := range reps {
				entries := shape.Docket(uint64(100+rep), n+400)
				c := read(entries)
				train, test := half(entries, n)
				runOne(entries, c, train, test, rec)
			}
			fmt.Printf("n=%d %-32s", n, shape.Name)
			for _, k := range order {
				fmt.Printf(" %s %s", k, res[k])
			}
			fmt.Println()
		}
	}
}

func runOne(entries []docket.Entry, c *corpus, train, test []int, rec func(string, []float64, int)) {
	result, err := Fit(context.Background(), entries[:len(train)], Config{Workers: 2, Seed: 1})
	if err != nil {
		panic(err)
	}
	m := NewModel(result.Profile)
	follow, nb := bestWitness(c, train), plainBayes(c, train)
	for _, i := range test {
		s := &c.samples[i]
		rec("FIT", m.Posterior(&s.entry.Case), s.truth)
		lp := make([]float64, len(s.labels))
		for j, l := range s.labels {
			lp[j] = 0.2
			if l == s.uttered[0].says {
				lp[j] = 0.6
			}
		}
		rec("| light", lp, s.truth)
		rec("plain", votes(s, ""), s.truth)
		rec("conf", votes(s, "confidence"), s.truth)
		rec("logodds", votes(s, "logodds"), s.truth)
		rec("best", follow(s), s.truth)
		rec("nb", nb(s), s.truth)
	}
	if os.Getenv("FIT_W") != "" {
		fmt.Printf("   %+v\n", result.Report)
	}
}

func TestSplits(t *testing.T) {
	path := os.Getenv("FIT_DOCKET")
	if path == "" {
		t.Skip("development only")
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []docket.Entry
	var r docket.Reader
	for e, err := range r.JSONL(path, f) {
		if err != nil {
			t.Fatal(err)
		}
		if os.Getenv("FIT_GROUP") != "" {
			e.Case.Group, _, _ = strings.Cut(e.Case.Subject, ":")
		}
		all = append(all, e)
	}
	res := map[string]*score{}
	var order []string
	rec := func(name string, p []float64, truth int) {
		if res[name] == nil {
			res[name] = &score{}
			order = append(order, name)
		}
		res[name].add(p, truth)
	}
	reps := 5
	for rep := range reps {
		groups := map[string]int{}
		rnd := rand.New(rand.NewPCG(uint64(rep), 9))
		var a, b []docket.Entry
		for i := range all {
			g := all[i].Case.Group
			if g == "" {
				g = all[i].Case.ID
			}
			if _, ok := groups[g]; !ok {
				groups[g] = rnd.IntN(2)
			}
			if groups[g] == 0 {
				a = append(a, all[i])
			} else if p := all[i].Case.Light.Confidence; p >= 0.5 && p < 0.85 || os.Getenv("FIT_ALL") != "" {
				b = append(b, all[i])
			}
		}
		entries := append(a, b...)
		c := read(entries)
		train, test := half(entries, len(a))
		runOne(entries, c, train, test, rec)
	}
	for _, k := range order {
		fmt.Printf(" %s %s", k, res[k])
	}
	fmt.Println()
}
