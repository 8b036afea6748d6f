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
)

// replay plays the personas with what the real modules once answered: what is
// left of a trial then is the host's own work, the codec included.
type replay struct {
	calls  []recorded
	next   int
	buffer []byte
}

type recorded struct {
	call   abi.Call
	output []byte
}

func (p *replay) answer(t abi.Call) []byte {
	r := p.calls[p.next]
	p.next++
	if r.call != t {
		panic("the trial takes another course than the recorded one")
	}
	return r.output
}

func (p *replay) Node(_ context.Context, _ string, req *abi.NodeRequest) (*abi.NodeResponse, error) {
	p.buffer = codec.AppendNodeRequest(p.buffer[:0], req)
	response, err := codec.DecodeNodeResponse(p.answer(abi.CallNode), 0)
	return &response, err
}

func (p *replay) Contest(_ context.Context, _ string, req *abi.ContestRequest) (*abi.ContestResponse, error) {
	p.buffer = codec.AppendContestRequest(p.buffer[:0], req)
	response, err := codec.DecodeContestResponse(p.answer(abi.CallContest), 0)
	return &response, err
}

func (p *replay) Edges(_ context.Context, _ string, req *abi.EdgeRequest) (*abi.EdgeResponse, error) {
	p.buffer = codec.AppendEdgeRequest(p.buffer[:0], req)
	response, err := codec.DecodeEdgeResponse(p.answer(abi.CallEdges), 0)
	return &response, err
}

func (*replay) Digest(string) string { return "sha256:recorded" }

// Trail keeps none.
func (*replay) Recorder() invoker.Recorder { return nil }

// BenchmarkHostSide is a trial without its modules: court, walk, state and codec.
func BenchmarkHostSide(b *testing.B) {
	for _, id := range []string{"tour-rounds", "tour-plea"} {
		subject := tour(b)[id].Case
		s := &spy{}
		try(b, open(b, host.Config{Observe: s.observe}), subject)
		player := &replay{}
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
