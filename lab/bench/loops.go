package main

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// primesBelow is how many primes the guests find.
const primesBelow = "78498"

// loops measures a tight loop, a sieve: unmetered, metered with fuel as in our
// sandbox, and with wazero's own checks for a cancelled context.
func (b *bench) loops(ctx context.Context) error {
	engine, err := sandbox.New(ctx, sandbox.Config{})
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close(ctx) }()
	failure := abi.Failure{Code: "primes", Message: primesBelow}
	c := &heat{exchange: exchange{indicted("sieve"), codec.AppendNodeResponse(nil, &abi.NodeResponse{Failure: &failure})}}
	defer c.close()
	for _, l := range languages() {
		if err := b.loopsIn(ctx, c, engine, l); err != nil {
			b.miss("sieve, "+l.name+" guest", err)
		}
	}
	medians, err := Interleave(b.rounds, 4*b.turn, c.rivals)
	if err != nil {
		return err
	}
	for _, r := range c.rivals {
		b.add(r.Name, float64(medians[r.Name])/1e6, "ms")
	}
	for _, l := range languages() {
		for _, how := range []string{"fuel", "wazero's interruption"} {
			b.against(loopName(l.name, how), loopName(l.name, "unmetered"))
		}
		b.against(loopName(l.name, "fuel"), loopName(l.name, "wazero's interruption"))
	}
	return nil
}

func loopName(language, how string) string { return "sieve, " + language + " guest, " + how }

func (b *bench) loopsIn(ctx context.Context, c *heat, engine *sandbox.Engine, l language) error {
	wasm, err := l.build(ctx, b.dir, "loop")
	if err != nil {
		return err
	}
	cancellable, cancel := context.WithCancel(ctx)
	c.closers = append(c.closers, cancel)
	for _, how := range []struct {
		name          string
		interruptible bool
	}{{"unmetered", false}, {"wazero's interruption", true}} {
		call, closed, err := Wazero(cancellable, wasm, how.interruptible)
		if err != nil {
			return err
		}
		c.add(loopName(l.name, how.name), call, closed)
	}
	call, err := Sandbox(ctx, engine, wasm)
	if err != nil {
		return err
	}
	c.add(loopName(l.name, "fuel"), call, nil)
	return nil
}
