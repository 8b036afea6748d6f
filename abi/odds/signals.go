package odds

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Signals finds the signals of a profile in texts. Its zero value finds
// nothing. It can be used by many goroutines at once.
type Signals struct {
	matcher *Matcher
	list    []string
	// passages is nil for no limit
	passages *passages
}

// NewSignals is for the signals of a profile, by their index; nil, or a
// profile without any, gives one that finds nothing.
func NewSignals(p *abi.Profile) Signals {
	if p == nil || len(p.Signals) == 0 {
		return Signals{}
	}
	list := make([]string, len(p.Signals))
	for i := range p.Signals {
		list[i] = p.Signals[i].Phrase
	}
	s := FindPhrases(list)
	if p.SignalPassage != nil {
		s.passages = newPassages(p, *p.SignalPassage)
	}
	return s
}

// FindPhrases is NewSignals for phrases that are no signals yet.
func FindPhrases(list []string) Signals {
	if len(list) == 0 {
		return Signals{}
	}
	return Signals{matcher: NewMatcher(list), list: list}
}

// Empty says whether there are no signals to be found.
func (s Signals) Empty() bool { return s.matcher == nil }

// Scan calls found for every place of a text where a signal stands. A phrase
// that begins or ends with an ASCII letter or digit stands only where no other
// is beside it. start and end are byte offsets. Passages that hold
// more than the profile allows are left out.
func (s Signals) Scan(text string, found func(signal, start, end int)) {
	if s.matcher == nil {
		return
	}
	if s.passages == nil {
		s.scan(text, found)
		return
	}
	stuffed, hits := s.stuffed(text)
	for _, h := range hits {
		for len(stuffed) > 0 && stuffed[0].end <= h.start {
			stuffed = stuffed[1:]
		}
		if len(stuffed) == 0 || h.end <= stuffed[0].start {
			found(h.signal, h.start, h.end)
		}
	}
}

func (s Signals) scan(text string, found func(signal, start, end int)) {
	s.matcher.Scan(text, func(i, start, end int) {
		p := s.list[i]
		if start > 0 && inWord(p[0]) && inWord(text[start-1]) {
			return
		}
		if end < len(text) && inWord(p[len(p)-1]) && inWord(text[end]) {
			return
		}
		found(i, start, end)
	})
}

func inWord(c byte) bool {
	c = Fold(c)
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}

// AddSignal adds the weights of a signal.
func AddSignal(to []float64, labels []string, s *abi.Signal) {
	for i := range s.Weights {
		if j := slices.Index(labels, s.Weights[i].Label); j >= 0 {
			to[j] += s.Weights[i].Weight
		}
	}
}
