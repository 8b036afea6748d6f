package abitest

import (
	"bytes"

	"github.com/shadowcourt/shadowcourt/abi"
)

// heard is how the answers of a role follow what models said.
type heard struct{ compared, differing int }

// completions offers models to every role, and has what it asks come to everything that it can come to: answers of several kinds, answers
// after a repair or of some samples only, and each reason for which there is none.
func (k *kit) completions() error {
	roles := map[abi.Family]heard{}
	err := k.each("completions", plainCases, plain, func(i int, r *Request) error {
		if r.Node == nil || r.Node.Family == abi.FamilyCollect {
			return nil
		}
		h := roles[r.Node.Family]
		err := k.everyOutcome(i, r.offered(i), &h)
		roles[r.Node.Family] = h
		return err
	})
	if err != nil || k.spent() {
		return err
	}
	for _, family := range k.roles.Families {
		if h := roles[family]; h.compared > 0 && h.differing == 0 {
			k.report.Note("§2.12", "%s: it asks a model, and answers alike whatever the model says (%d answers)", family, h.compared+1)
		}
	}
	return nil
}

// everyOutcome asks a module, and again after everything that its completion can come to.
func (k *kit) everyOutcome(number int, r *Request, h *heard) error {
	o, err := k.ask(r)
	for ; err == nil && o.ok && o.answer.node != nil && o.answer.node.Experiment != nil; o, err = k.ask(r) {
		r = r.ran(o.answer.node.Experiment)
	}
	if err != nil || !o.ok || o.answer.node == nil || o.answer.node.Completion == nil {
		return err
	}
	asked := o.answer.node.Completion
	var before []byte // what came of another answer
	for _, result := range everyResult(number, asked) {
		next := r.heard(&result)
		o, err := k.ask(next)
		if err != nil || k.spent() {
			return err
		}
		if err := k.repeat(number, next, &o); err != nil {
			return err
		}
		if len(result.Answers) == 0 || o.answer.node == nil {
			continue
		}
		if c := o.answer.node.Completion; c != nil {
			k.noteSame(asked, c, next)
			continue
		}
		if before != nil {
			h.compared++
			if !bytes.Equal(before, o.Response) {
				h.differing++
			}
		}
		before = o.Response
	}
	return nil
}

// noteSame tells of a question that was answered, and is asked again.
func (k *kit) noteSame(asked, again *abi.Completion, r *Request) {
	if !k.again && sameQuestion(asked, again) {
		k.again = true
		k.report.Note("§2.12", "it asks the same question again after the answer (%s), which costs as much again: each call has to look at `completions`", r.Name)
	}
}

// afterAnswer gives a request, and behind it the one that a host makes when the module asked a model and has its answer.
func (k *kit) afterAnswer(r *Request) ([]*Request, error) {
	list := []*Request{r}
	if r.Node == nil || len(r.Node.Models) == 0 {
		return list, nil
	}
	_, a, ok, err := k.tell(r)
	if err != nil || !ok || a.node == nil || a.node.Completion == nil {
		return list, err
	}
	result := everyResult(0, a.node.Completion)[0]
	return append(list, r.heard(&result)), nil
}
