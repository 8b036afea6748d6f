package host_test

import (
	"context"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// answers plays the personas with what the real modules once answered: what is
// left of a trial then is the host's own work, the codec included.
type answers struct {
	calls []recorded
	next  int
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

// Call gives the next answer.
func (p *answers) Call(_ context.Context, _ string, call abi.Call, _ []byte) (sandbox.Output, error) {
	return sandbox.Output{Bytes: p.answer(call)}, nil
}

// Digest is the same of all modules.
func (*answers) Digest(string) string { return "sha256:recorded" }

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
		c, err := court.New(court.Config{Services: court.Services{Now: time.Now}})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(id, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				player.next = 0
				if _, err := c.Try(context.Background(), subject, court.Options{Modules: player}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
