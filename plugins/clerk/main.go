// Command clerk evaluates edges: it says which edges of the graphs fire.
package main

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/edges"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
)

func init() { edges.Handle(answer) }

func main() {}

// answer puts every question to the rule of its evaluator's name. One evaluator that is not known fails the whole call: a graph that asks
// for it is broken, and no edge may fire or stay silent by accident.
func answer(r *abi.EdgeRequest) ([]abi.EdgeAnswer, *abi.Failure) {
	answers := make([]abi.EdgeAnswer, 0, len(r.Questions))
	var f facts
	none := new(abi.Artifact)
	for i := range r.Questions {
		q := &r.Questions[i]
		rule, ok := ruleOf[q.Evaluator]
		if !ok {
			return nil, guest.Fail(guest.UnknownEvaluator, "edge "+strconv.Quote(q.ID)+" asks for evaluator "+strconv.Quote(q.Evaluator)+", which the clerk doesn't have")
		}
		if len(q.Params) > 0 {
			if failure := proceeding.CheckParams("edge "+strconv.Quote(q.ID), q.Params, rule.params...); failure != nil {
				return nil, failure
			}
		}
		f = view(r, q, none)
		fires, why := rule.decide(&f)
		answers = append(answers, abi.EdgeAnswer{ID: q.ID, Fires: fires, Why: why})
	}
	return answers, nil
}

// facts are what a rule may look at.
type facts struct {
	params     []abi.Param
	limits     abi.Limits
	artifact   *abi.Artifact // never nil
	remands    int
	maxRemands int
	loopsLeft  int
}

// view gives the facts of one question: for an edge from `_any`, the limits alone.
func view(r *abi.EdgeRequest, q *abi.EdgeQuestion, none *abi.Artifact) facts {
	f := facts{params: q.Params, limits: r.Limits, artifact: none}
	if q.Any {
		return f
	}
	f.remands, f.maxRemands, f.loopsLeft = r.Remands, r.MaxRemands, r.LoopsLeft
	if r.Artifact != nil {
		f.artifact = r.Artifact
	}
	return f
}
