package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Use is one use of a capability: what a module asked, and what it was
// answered, as canonical messages (SPEC.md §2.12).
type Use struct {
	Capability      abi.Capability
	Request, Answer []byte
}

// digests states a use without its messages.
func (u *Use) digests() trial.Use {
	return trial.Use{Capability: u.Capability, Request: digest(u.Request), Answer: digest(u.Answer)}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// maxUseBytes is what a module may have the host hold in one trial, in bytes of
// requests and answers: the host answers a question the same throughout the trial, and records what was asked.
const maxUseBytes = 4 << 20

// useBytes is what the host holds of each use beside the messages.
const useBytes = 512

// desk answers the module of one call. What was answered once in a trial is
// answered so again.
type desk struct {
	session *session
	module  string
	at, by  string            // node and persona of the call
	persona *pipeline.Persona // nil: whoever calls is granted nothing
	node    *pipeline.Node    // nil where the call belongs to no node
	uses    []Use
}

// Ask answers one question, if the module may ask it here.
func (d *desk) Ask(ctx context.Context, capability abi.Capability, request []byte) ([]byte, error) {
	if why := d.denied(capability); why != "" {
		return nil, &sandbox.DeniedError{Capability: capability, Why: why}
	}
	key := useKey(capability, record.DigestOf(request))
	use, ok := d.session.answers[key]
	if !ok {
		if !d.hold(len(request)) {
			return nil, d.over(capability)
		}
		answer, err := d.find(ctx, capability, request)
		if err != nil {
			return nil, err
		}
		if !d.hold(len(answer)) {
			return nil, d.over(capability)
		}
		use = Use{Capability: capability, Request: request, Answer: answer}
		if capability != abi.CapLog {
			d.session.answers[key] = use
		}
	}
	if !d.hold(useBytes) {
		return nil, d.over(capability)
	}
	d.uses = append(d.uses, use) // with the request of the first time, not one more copy of it
	return use.Answer, nil
}

// hold counts bytes that the host holds for the module until the trial is over.
// It reports whether the module may have them.
func (d *desk) hold(bytes int) bool {
	if bytes > maxUseBytes-d.session.held[d.module] {
		return false
	}
	d.session.held[d.module] += bytes
	return true
}

// over is what a module hears that asked for too much: a log line is dropped,
// since nothing depends on it, and a question ends the call.
func (d *desk) over(capability abi.Capability) error {
	if capability == abi.CapLog {
		return nil
	}
	return &sandbox.DeniedError{Capability: capability, Why: fmt.Sprintf("after %d bytes of requests and answers in one trial", maxUseBytes)}
}

// find answers a question for the first time in a trial. In a trial that is
// tried again the answers are those of the record; a question that it does not
// have is answered as if nothing were known, and the records differ.
func (d *desk) find(ctx context.Context, capability abi.Capability, request []byte) ([]byte, error) {
	trail := d.session.trail
	if !trail.replays() {
		return sandbox.Answer(ctx, d, capability, request)
	}
	if answer, ok := trail.answer(capability, request); ok {
		return answer, nil
	}
	return sandbox.Answer(ctx, sandbox.Nothing{}, capability, request)
}

// denied says why a capability is not there; empty if it is.
func (d *desk) denied(capability abi.Capability) string {
	switch mask := maskOf(capability); {
	case d.persona == nil:
		return "is granted to personas only"
	case !slices.Contains(d.persona.Grants, pipeline.Capability(capability)):
		return "is not granted to " + d.persona.ID
	case mask == "":
		return ""
	case d.node == nil:
		return "is not there in this kind of call"
	case !slices.Contains(d.node.Masks, mask):
		return "is not there at the node " + d.node.Name + ", which has no mask " + string(mask)
	}
	return ""
}

// maskOf is the mask that a node must wear for a capability, if any.
func maskOf(capability abi.Capability) pipeline.Mask {
	switch capability {
	case abi.CapRecall:
		return pipeline.MaskRecall
	case abi.CapCorrelate:
		return pipeline.MaskCorrelation
	case abi.CapSource:
		return pipeline.MaskForge
	default:
		return ""
	}
}

// Log writes the line of a module into the host's log.
func (d *desk) Log(ctx context.Context, line abi.LogLine) error {
	if log := d.session.host.config.Logger; log != nil {
		log.InfoContext(ctx, "module says", "case", d.session.subject.ID, "module", d.module, "message", line.Message)
	}
	return nil
}

// Recall asks the casebook for cases that look like this one.
func (d *desk) Recall(ctx context.Context, query abi.RecallQuery) (abi.PriorCases, error) {
	book := d.session.host.config.Casebook
	if book == nil {
		return abi.PriorCases{}, nil
	}
	cases, err := book.Recall(ctx, d.session.subject, query.Limit)
	return abi.PriorCases{Cases: cases}, err
}

// Correlate searches the casebook.
func (d *desk) Correlate(ctx context.Context, query abi.CorrelateQuery) (abi.PriorCases, error) {
	book := d.session.host.config.Casebook
	if book == nil {
		return abi.PriorCases{}, nil
	}
	cases, err := book.Correlate(ctx, query.Text, query.Limit)
	return abi.PriorCases{Cases: cases}, err
}

// Source asks the source of the module under test.
func (d *desk) Source(ctx context.Context, query abi.SourceQuery) (abi.SourceAnswer, error) {
	source := d.session.host.config.Source
	if source == nil {
		return abi.SourceAnswer{}, nil
	}
	return source.Source(ctx, query)
}
