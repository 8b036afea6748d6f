package host_test

import (
	"context"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// answers plays the personas with what the real modules once answered: what is
// left of a trial then is the host's own work, the codec included.
type answers struct {
	calls  []recorded
	next   int
	buffer []byte
}

type recorded struct {
	call   abi.Call
	output []byte
}

func (p *answers) answer(t abi.Call) []byte {
	r := p.calls[p.next]
	p.next++
	if r.call != t {
		panic("the trial takes another course than the recorded one")
	}
	return r.output
}

func (p *answers) Node(_ context.Context, _ string, req *abi.NodeRequest) (*abi.NodeResponse, error) {
	p.buffer = codec.AppendNodeRequest(p.buffer[:0], req)
	response, err := codec.DecodeNodeResponse(p.answer(abi.CallNode), 0)
	return &response, err
}

func (p *answers) Contest(_ context.Context, _ string, req *abi.ContestRequest) (*abi.ContestResponse, error) {
	p.buffer = codec.AppendContestRequest(p.buffer[:0], req)
	response, err := codec.DecodeContestResponse(p.answer(abi.CallContest), 0)
	return &response, err
}

func (p *answers) Edges(_ context.Context, _ string, req *abi.EdgeRequest) (*abi.EdgeResponse, error) {
	p.buffer = codec.AppendEdgeRequest(p.buffer[:0], req)
	response, err := codec.DecodeEdgeResponse(p.answer(abi.CallEdges), 0)
	return &response, err
}

func (*answers) Digest(string) string { return "sha256:recorded" }

// Recorder is none.
func (*answers) Replaced(trial.Fallback) {}

func (*answers) Recorder() invoker.Recorder { return nil }

// Told is nothing.
func (*answers) Told() []abi.Element { return nil }

// BenchmarkHostSide is a trial without its modules: court, traversal, state and codec.
func BenchmarkHostSide(b *testing.B) {
	for _, id := range []string{"tour-rounds", "tour-plea"} {
		subject := tour(b)[id].Case
		s := &spy{}
		try(b, open(b, host.Config{Observe: s.observe}), subject)
		player := &answers{}
		for _, r := range s.calls {
			player.calls = append(player.calls, recorded{r.Call, r.Output})
		}
		graph, err := pipeline.NewGraph(shipped(b))
		if err != nil {
			b.Fatal(err)
		}
		c, err := court.New(graph, court.Config{Now: time.Now})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(id, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				player.next = 0
				if _, err := c.Try(context.Background(), &subject, nil, player); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
