package court

import (
	"context"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// maxUseBytes is what a module may have the host hold in one trial, in bytes of
// requests and answers: the host answers a question the same throughout the trial, and records what was asked.
const maxUseBytes = 4 << 20

// useBytes is what the host holds of each use beside the messages.
const useBytes = 512

// useKey is what makes one use of a capability the same as another in a trial.
type useKey struct {
	capability abi.Capability
	request    record.Digest
}

func keyOfUse(c abi.Capability, request []byte) useKey { return useKey{c, record.DigestOf(request)} }

// broker answers what the module of one call asks through its capabilities. The same question has the same answer throughout a trial.
type broker struct {
	session *session
	module  string
	at, by  string            // node and persona of the call
	persona *pipeline.Persona // nil: whoever calls is granted nothing
	node    *pipeline.Node    // nil where the call belongs to no node
	uses    []Use
}

// Ask answers one question, if the module may ask it here.
func (b *broker) Ask(ctx context.Context, capability abi.Capability, request []byte) ([]byte, error) {
	if why := b.denied(capability); why != "" {
		return nil, &sandbox.DeniedError{Capability: capability, Why: why}
	}
	key := keyOfUse(capability, request)
	use, ok := b.session.answers[key]
	if !ok {
		if !b.hold(len(request)) {
			return nil, b.over(capability)
		}
		answer, err := b.find(ctx, capability, request)
		if err != nil {
			return nil, err
		}
		if !b.hold(len(answer)) {
			return nil, b.over(capability)
		}
		use = Use{Capability: capability, Request: request, Answer: answer}
		if capability != abi.CapLog {
			b.session.answers[key] = use
		}
	}
	if !b.hold(useBytes) {
		return nil, b.over(capability)
	}
	b.uses = append(b.uses, use) // with the request of the first time, not one more copy of it
	return use.Answer, nil
}

// hold counts bytes that the host holds for the module until the trial is over. It reports whether the module may have them.
func (b *broker) hold(bytes int) bool {
	if bytes > maxUseBytes-b.session.held[b.module] {
		return false
	}
	b.session.held[b.module] += bytes
	return true
}

// over is what a module hears that asked for too much: a log line is dropped, since nothing depends on it, and a question ends the call.
func (b *broker) over(capability abi.Capability) error {
	if capability == abi.CapLog {
		return nil
	}
	return &sandbox.DeniedError{Capability: capability, Why: fmt.Sprintf("after %d bytes of requests and answers in one trial", maxUseBytes)}
}

// find answers a question for the first time in a trial. In a trial that is replayed the answers are those of the record; a question that
// it does not have is answered as if nothing were known, and the records differ.
func (b *broker) find(ctx context.Context, capability abi.Capability, request []byte) ([]byte, error) {
	recorder := b.session.recorder
	if !recorder.replays() {
		return sandbox.Answer(ctx, b, capability, request)
	}
	if answer, ok := recorder.answer(capability, request); ok {
		return answer, nil
	}
	return sandbox.Answer(ctx, sandbox.Nothing{}, capability, request)
}

// denied says why a capability is not there; empty if it is.
func (b *broker) denied(capability abi.Capability) string {
	switch mask := masks[capability]; {
	case b.persona == nil:
		return "is granted to personas only"
	case !slices.Contains(b.persona.Grants, capability):
		return "is not granted to " + b.persona.ID
	case mask == "":
		return ""
	case b.node == nil:
		return "is not there in this kind of call"
	case !slices.Contains(b.node.Masks, mask):
		return "is not there at the node " + b.node.Name + ", which has no mask " + string(mask)
	}
	return ""
}

// masks are those that a node must wear for capabilities.
var masks = map[abi.Capability]pipeline.Mask{
	abi.CapRecall: pipeline.MaskRecall, abi.CapCorrelate: pipeline.MaskCorrelation, abi.CapSource: pipeline.MaskForge,
}

// Log writes the line of a module into the host's log.
func (b *broker) Log(ctx context.Context, line abi.LogLine) error {
	b.session.services.Logger.InfoContext(ctx, "module says", "case", b.session.subject.ID, "module", b.module, "message", line.Message)
	return nil
}

// Recall asks the casebook for cases that look like this one.
func (b *broker) Recall(ctx context.Context, query abi.RecallQuery) (abi.PriorCases, error) {
	book := b.session.services.Casebook
	if book == nil {
		return abi.PriorCases{}, nil
	}
	cases, err := book.Recall(ctx, b.session.subject, query.Limit)
	return abi.PriorCases{Cases: cases}, err
}

// Correlate searches the casebook.
func (b *broker) Correlate(ctx context.Context, query abi.CorrelateQuery) (abi.PriorCases, error) {
	book := b.session.services.Casebook
	if book == nil {
		return abi.PriorCases{}, nil
	}
	cases, err := book.Correlate(ctx, query.Text, query.Limit)
	return abi.PriorCases{Cases: cases}, err
}

// Experiment gives the experiments that can be run for the case, or runs one.
func (b *broker) Experiment(ctx context.Context, query abi.ExperimentQuery) (abi.ExperimentAnswer, error) {
	laboratory := b.session.services.Experiments
	switch {
	case laboratory == nil:
		return abi.ExperimentAnswer{}, nil
	case query.Experiment == nil:
		offers, err := laboratory.Offers(ctx, b.session.subject)
		return abi.ExperimentAnswer{Offers: offers, Why: laboratory.Why(b.session.subject)}, err
	default:
		result, err := laboratory.Run(ctx, b.session.subject, *query.Experiment)
		return abi.ExperimentAnswer{Result: &result}, err
	}
}

// Complete gives the models of some names, or asks one.
func (b *broker) Complete(ctx context.Context, query abi.CompletionQuery) (abi.CompletionAnswer, error) {
	models := b.session.services.Models
	switch {
	case models == nil:
		return abi.CompletionAnswer{}, nil
	case query.Completion == nil:
		return abi.CompletionAnswer{Models: models.Offers(ctx, query.Models)}, nil
	default:
		result, err := models.Complete(ctx, *query.Completion, b.session.modelUsage)
		return abi.CompletionAnswer{Result: &result}, err
	}
}

// Source asks the source of the module under test.
func (b *broker) Source(ctx context.Context, query abi.SourceQuery) (abi.SourceAnswer, error) {
	source := b.session.services.Source
	if source == nil {
		return abi.SourceAnswer{}, nil
	}
	return source.Source(ctx, query)
}
