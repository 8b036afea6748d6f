package fit

import "gonum.org/v1/gonum/optimize"

var _ = optimize.LBFGS{}
