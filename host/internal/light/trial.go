package light

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/internal/state"
	"github.com/shadowcourt/shadowcourt/host/internal/traverse"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Request asks for a classification. Feedback, Previous and Evidence are nil
// the first time.
type Request struct {
	Case     *abi.Case
	Feedback *abi.RemandFeedback
	Previous *abi.LightAnswer
	// Evidence is all that lies before the court, in the order into which the
	// feedback's indexes point.
	Evidence []abi.Evidence
}

// Response is a classification, and the evidence that was gathered for it
// beside what was there. Remand is there when there was feedback.
type Response struct {
	Answer   abi.LightAnswer
	Evidence []abi.Evidence
	Remand   *abi.RemandAnswer
}

// Trial answers for one case, as often as the court asks. It is used by one
// goroutine.
type Trial struct {
	path    *Path
	invoker invoker.Invoker
	state   *state.State
	file    abi.LightFile // what the passes have come to
	passes  []trial.LightPass
}

// Trial begins with a case, whose personas modules play.
func (p *Path) Trial(modules invoker.Modules) *Trial {
	return &Trial{path: p, invoker: invoker.Invoker{Modules: modules, Log: p.log}, state: state.Watched(invoker.Merged(modules))}
}

// Passes are those so far, one for each answer. They lack their calls.
func (t *Trial) Passes() []trial.LightPass { return t.passes }

// Answer traverses the graph: from its start, or after a remand from resolve. Its
// error is a *trial.Failure that names the module, or what else broke the
// traversal, or the context's.
func (t *Trial) Answer(ctx context.Context, req Request) (Response, error) {
	w := &passage{Trial: t, req: &req, base: req.Case.Evidence, loops: DefaultLoops, sequence: make(map[string]int)}
	if req.Feedback != nil {
		w.base = req.Evidence
	}
	t.passes = append(t.passes, trial.LightPass{})
	w.pass = &t.passes[len(t.passes)-1]
	t.file.Feedback, w.report = req.Feedback, nil
	w.refresh()
	traversal := traverse.New(t.path.graph, w, w, traverse.Config{MaxSteps: DefaultMaxSteps, Ended: w.ended, Moved: w.moved})
	start := t.path.graph.Start()
	if req.Feedback != nil {
		start = t.path.again
	}
	outcome, err := traversal.RunFrom(ctx, start)
	w.pass.Path, w.pass.Steps, w.pass.Gathered = outcome.Path(), invoker.Steps(outcome), w.gathered
	if err != nil {
		return Response{}, stopped(ctx, err)
	}
	response, err := w.end(outcome)
	if err != nil {
		return Response{}, err
	}
	w.pass.Answer = &response.Answer
	return response, nil
}

// ended stops a traversal whose time is over.
func (t *Trial) ended(ctx context.Context) error {
	switch over := invoker.Over(t.invoker.Modules, ctx.Err() != nil); {
	case !over:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return context.DeadlineExceeded // as in the trial that is tried again
	}
}

// stopped says what broke a traversal.
func stopped(ctx context.Context, err error) error {
	var failure *trial.Failure
	var noEdge *traverse.NoEdgeError
	var limit *traverse.StepLimitError
	switch {
	case ctx.Err() != nil:
		return err
	case errors.As(err, &failure):
		return failure
	case errors.As(err, &noEdge):
		return broken(trial.CauseNoEdge, noEdge.Node, noEdge.Error())
	case errors.As(err, &limit):
		return broken(trial.CauseStepLimit, limit.Node, limit.Error())
	default:
		return err
	}
}

// broken is a failure that no module is to blame for.
func broken(cause trial.Cause, node, message string) error {
	return trial.NewFailure(cause, node, "", "pipeline", "", message)
}

// passage is one traversal under way.
type passage struct {
	*Trial
	req      *Request
	pass     *trial.LightPass
	base     []abi.Evidence // what was there before the traversal
	gathered []abi.Evidence // what it brought
	channels []channel      // that hold it, one for each node
	profile  *abi.Profile   // what of it can count
	report   *abi.LightReport
	loops    int
	sequence map[string]int
}

// evidence is all that there is, what was there before first.
func (w *passage) evidence() []abi.Evidence {
	return slices.Concat(w.base, w.gathered)
}

// channel of the state that holds what a node gathered when it was last visited.
type channel struct{ node, name string }

// refresh takes over what a merge has changed.
func (w *passage) refresh() {
	w.gathered = nil
	evidences := w.state.Snapshot().Evidences
	for _, c := range w.channels {
		for _, e := range evidences[c.name] {
			if abi.FindEvidence(w.base, e.SourceRef, e.Content) == nil && abi.FindEvidence(w.gathered, e.SourceRef, e.Content) == nil {
				w.gathered = append(w.gathered, e)
			}
		}
	}
	w.profile, _ = w.path.domain.Standing(w.req.Case, w.evidence())
}

// gather merges what a node found, with the element of the node. It stands in
// place of what the node found earlier in the traversal: what it doesn't give again,
// it has taken back.
func (w *passage) gather(node *pipeline.Node, items []abi.Evidence) error {
	w.channels = slices.DeleteFunc(w.channels, func(c channel) bool { return c.node == node.Name })
	if len(items) > 0 {
		own := make([]abi.Evidence, len(items))
		for i := range items {
			own[i] = w.attributed(node, &items[i])
		}
		name := fmt.Sprintf("pass-%d/%s/%d", len(w.passes), node.Name, w.sequence[node.Name])
		if err := w.state.Apply(&abi.Update{Evidences: map[string][]abi.Evidence{name: own}}); err != nil {
			return fmt.Errorf("merge the evidence of node %q: %w", node.Name, err)
		}
		w.channels = append(w.channels, channel{node.Name, name})
	}
	w.refresh()
	return nil
}

// attributed is an item that a node brings, with the node's element and named after the node's module; one that is there already stays
// as it is. The host writes the casebook's items itself.
func (w *passage) attributed(node *pipeline.Node, item *abi.Evidence) abi.Evidence {
	if same := abi.FindEvidence(w.evidence(), item.SourceRef, item.Content); same != nil {
		return *same
	}
	own := *item
	own.Element = elementOf(node)
	if p, ok := w.path.graph.Definition().Persona(node.Personas[0]); ok && !abi.IsReserved(own.SourceRef) {
		own.SourceRef = odds.Attributed(own.SourceRef, p.Module)
	}
	return own
}

// keep merges an artifact into the state, which owns it from here on.
func (w *passage) keep(node *pipeline.Node, persona string, artifact *abi.Artifact) error {
	at := abi.Position{Node: node.Name, Pass: len(w.passes) - 1, Sequence: w.sequence[node.Name]}
	w.sequence[node.Name]++
	entry := abi.ArtifactEntry{At: at, Persona: persona, Artifact: *artifact}
	if err := w.state.Adopt(&abi.Update{Artifacts: []abi.ArtifactEntry{entry}}); err != nil {
		return fmt.Errorf("merge the artifact of node %q: %w", node.Name, err)
	}
	w.pass.Artifacts = append(w.pass.Artifacts, entry)
	return nil
}

// moved counts the edges that go back.
func (w *passage) moved(step *traverse.Step) {
	if e, ok := w.path.graph.Edge(step.EdgeID); ok && e.Loop {
		w.loops--
	}
}
