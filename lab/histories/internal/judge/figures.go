package judge

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// share is a part of a number of cases, with how many each repository has of both.
type share struct {
	k, n  int
	repos map[string][2]int
}

func (s *share) add(repository string, is bool) {
	if s.repos == nil {
		s.repos = map[string][2]int{}
	}
	r := s.repos[repository]
	s.n, r[1] = s.n+1, r[1]+1
	if is {
		s.k, r[0] = s.k+1, r[0]+1
	}
	s.repos[repository] = r
}

// wilson is the 95 % score interval.
func wilson(k, n int) (low, high float64) {
	const z = 1.959963984540054
	if n == 0 {
		return 0, 1
	}
	p, m := float64(k)/float64(n), float64(n)
	centre := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, centre-half), min(1, centre+half)
}

// bootstrap is the 95 % percentile interval of the share where whole repositories are drawn with replacement.
func (s *share) bootstrap(seed uint64) (low, high float64) {
	const draws = 2000
	var pairs [][2]int
	for _, name := range slices.Sorted(maps.Keys(s.repos)) {
		pairs = append(pairs, s.repos[name])
	}
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // simulation, no secret
	var list []float64
	for range draws {
		k, n := 0, 0
		for range pairs {
			p := pairs[r.IntN(len(pairs))]
			k, n = k+p[0], n+p[1]
		}
		if n > 0 {
			list = append(list, float64(k)/float64(n))
		}
	}
	slices.Sort(list)
	return at(list, 0.025), at(list, 0.975)
}

// at is a quantile of sorted figures.
func at(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// at tells a quantile of the seconds; there may be none.
func (s *score) at(q float64) string {
	if len(s.seconds) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", at(s.seconds, q))
}

// text states the share in percent, with its interval over cases, and over repositories if there is a seed.
func (s *share) text(seed uint64) string {
	if s.n == 0 {
		return "–"
	}
	low, high := wilson(s.k, s.n)
	text := fmt.Sprintf("%d of %d = %.1f (%.1f–%.1f", s.k, s.n, 100*float64(s.k)/float64(s.n), 100*low, 100*high)
	if seed != 0 {
		low, high = s.bootstrap(seed)
		text += fmt.Sprintf("; %.1f–%.1f", 100*low, 100*high)
	}
	return text + ")"
}

// score is what came of cases in an arm.
type score struct {
	falseAlibis, missed, decided, right, rightOfDecided share
	openYours, openOthers, lacked                       int
	seconds                                             []float64 // sorted, of the cases that were timed
}

func scoreOf(list []Judged, a Arm) *score {
	s := &score{}
	for i := range list {
		c, answer := list[i].Case, list[i].Answers[a]
		truth, says, repo := c.Truth.Attribution, answer.Attribution, c.Repository
		open, right := says == history.Open, says == truth
		switch {
		case truth.Yours():
			s.falseAlibis.add(repo, !open && !says.Yours())
			s.openYours += one(open)
		default:
			s.missed.add(repo, says.Yours())
			s.openOthers += one(open)
		}
		s.decided.add(repo, !open)
		s.right.add(repo, right)
		if !open {
			s.rightOfDecided.add(repo, right)
		}
		s.lacked += one(answer.Lacked > 0)
		if c.Timed() {
			s.seconds = append(s.seconds, answer.Seconds)
		}
	}
	slices.Sort(s.seconds)
	return s
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
