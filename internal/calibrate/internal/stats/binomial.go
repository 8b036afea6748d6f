package stats

import "math"

// BinomialTail is P(X <= k) for X ~ Binomial(n, p). It takes real k and n, 0 <= k <= n, so that an effective number of
// cases can stand in for n: P(X <= k) = I_{1-p}(n-k, k+1), with I the regularised incomplete beta function.
func BinomialTail(k, n, p float64) float64 {
	switch {
	case k >= n || p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	return betaRegularized(1-p, n-k, k+1)
}

// UpperBound is the Clopper-Pearson upper end: the largest p at which k or fewer of n are still as likely as 1-confidence.
// 1 without any case.
func UpperBound(k, n, confidence float64) float64 {
	if k >= n {
		return 1
	}
	low, high := 0.0, 1.0
	for range 60 {
		if mid := (low + high) / 2; BinomialTail(k, n, mid) > 1-confidence {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// SignTest is the exact two-sided test that plus and minus are equally likely. Over single cases, of which one method has
// right what the other has wrong, it is McNemar's exact test. 1 without any case.
func SignTest(plus, minus int) float64 {
	n := plus + minus
	if n == 0 {
		return 1
	}
	return min(1, 2*BinomialTail(float64(min(plus, minus)), float64(n), 0.5))
}

// student975 is the 97.5 % point of Student's t with df degrees of freedom, by bisection of its distribution, which is
// P(T <= t) = 1 - I_x(df/2, 1/2)/2 with x = df/(df+t*t).
func student975(df float64) float64 {
	low, high := 1.0, 13.0 // 12.7 with one degree, 1.96 with all
	for range 50 {
		if mid := (low + high) / 2; betaRegularized(df/(df+mid*mid), df/2, 0.5)/2 > 0.025 {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// betaRegularized is I_x(a, b) by Lentz's continued fraction (Press et al., Numerical Recipes, 3rd ed., 6.4).
func betaRegularized(x, a, b float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaRegularized(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	return front * betaFraction(x, a, b) / a
}

func betaFraction(x, a, b float64) float64 {
	const tiny, enough = 1e-300, 1e-15
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m <= 10_000; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / away(1+even*d)
		c = away(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / away(1+odd*d)
		c = away(1 + odd/c)
		h *= d * c
		if math.Abs(d*c-1) < enough {
			break
		}
	}
	return h
}
