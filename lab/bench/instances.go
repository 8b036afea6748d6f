package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/module"
)

// A crowd is a number of instances that live at the same time.
type crowd struct {
	File     string // the module
	Count    int
	Plain    bool // instances of wazero's, each started from nothing
	Prepared bool // with the shipped profile
}

// crowded is what they take: memory beyond that of the process with the module loaded.
type crowded struct {
	Bytes   int64
	Elapsed time.Duration
}

// instances measures how long it takes to have many instances of one module,
// and how much memory they take.
func (b *bench) instances(ctx context.Context) error {
	for _, l := range languages() {
		wasm, err := l.build(ctx, b.dir, "loop")
		if err != nil {
			b.miss("instances, "+l.name+" guest", err)
			continue
		}
		file := filepath.Join(b.dir, l.name+"-crowd.wasm")
		if err := os.WriteFile(file, wasm, 0o600); err != nil {
			return err
		}
		crowds := []crowd{{File: file, Count: 1}, {File: file, Count: 100}, {File: file, Count: 1000}, {File: file, Count: 1, Plain: true}, {File: file, Count: 100, Plain: true}}
		if l.prepares {
			crowds = append(crowds, crowd{File: file, Count: 1000, Prepared: true})
		}
		for _, c := range crowds {
			out, err := inChild[crowd, crowded](ctx, "child-instances", c)
			if err != nil {
				return err
			}
			b.add(c.name(l.name)+", memory", float64(out.Bytes)/(1<<20), "MiB (PSS)")
			b.add(c.name(l.name)+", time", float64(out.Elapsed)/1e6, "ms")
		}
		for _, what := range []string{", memory", ", time"} {
			b.against(crowd{Count: 100}.name(l.name)+what, crowd{Count: 100, Plain: true}.name(l.name)+what)
			if l.prepares {
				b.against(crowd{Count: 1000, Prepared: true}.name(l.name)+what, crowd{Count: 1000}.name(l.name)+what)
			}
		}
	}
	return nil
}

func (c crowd) name(language string) string {
	how := "live instances"
	switch {
	case c.Plain:
		how = "live instances of plain wazero"
	case c.Prepared:
		how = "live instances, prepared"
	}
	return fmt.Sprintf("%d %s, %s guest", c.Count, how, language)
}

// holdInstances makes the instances of a crowd, one after the other.
func holdInstances(ctx context.Context, c crowd) (crowded, error) {
	wasm, err := os.ReadFile(c.File)
	if err != nil {
		return crowded{}, err
	}
	if c.Plain {
		return holdPlain(ctx, wasm, c.Count)
	}
	var after *sandbox.Preparation
	if c.Prepared {
		p, err := module.LoadProfile(filepath.Join("..", "..", "pipelines", "profiles", "go-test.yaml"))
		if err != nil {
			return crowded{}, err
		}
		message := codec.AppendPrepareRequest(nil, &abi.PrepareRequest{Digest: p.Name, Profile: p})
		after = &sandbox.Preparation{Digest: p.Name, Requests: [][]byte{message}}
	}
	return holdCalls(ctx, wasm, c.Count, after)
}

// turnstile is the clock of the sandbox, and holds guests that ask for the
// time: the first look of a call is the sandbox's own, when it begins; the next
// is on behalf of the guest. Calls must begin one at a time.
type turnstile struct {
	start   time.Time
	looks   atomic.Int64
	arrived chan struct{}
	open    chan struct{}
}

func (t *turnstile) now() time.Time {
	if t.looks.Add(1) == 2 {
		t.arrived <- struct{}{}
		<-t.open
	}
	return t.start
}

// holdCalls has calls wait inside of the sandbox, all at the same time.
func holdCalls(ctx context.Context, wasm []byte, count int, after *sandbox.Preparation) (out crowded, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gate := &turnstile{start: time.Now(), arrived: make(chan struct{}), open: make(chan struct{})}
	gate.looks.Store(1 << 32) // loading is not held
	engine, err := sandbox.New(ctx, sandbox.Config{Now: gate.now})
	if err != nil {
		return out, err
	}
	module, err := engine.Load(ctx, wasm)
	if err != nil {
		return out, err
	}
	if err := responds(ctx, module, after); err != nil {
		return out, err
	}
	before, err := proportional()
	if err != nil {
		return out, err
	}
	var calls sync.WaitGroup
	ended := make(chan error, count)
	request := indicted("wait")
	start := time.Now()
	for range count {
		gate.looks.Store(0)
		calls.Go(func() {
			_, err := module.CallPrepared(ctx, after, abi.CallNode, request)
			ended <- err
		})
		select {
		case <-gate.arrived:
		case err := <-ended:
			return out, fmt.Errorf("a call did not wait: %w", err)
		}
	}
	out.Elapsed = time.Since(start)
	held, err := proportional()
	out.Bytes = held - before
	cancel()
	close(gate.open)
	calls.Wait()
	return out, errors.Join(err, engine.Close(context.WithoutCancel(ctx)))
}

// responds makes sure that the module does its work before it waits.
func responds(ctx context.Context, module *sandbox.Module, after *sandbox.Preparation) error {
	x := nodeExchange()
	return x.once(func(request []byte) ([]byte, error) {
		out, err := module.CallPrepared(ctx, after, abi.CallNode, request)
		return out.Bytes, err
	})()
}

// holdPlain makes instances of wazero's and calls each once.
func holdPlain(ctx context.Context, wasm []byte, count int) (out crowded, err error) {
	begin, closed, err := WazeroInstances(ctx, wasm)
	if err != nil {
		return out, err
	}
	defer closed()
	before, err := proportional()
	if err != nil {
		return out, err
	}
	x := nodeExchange()
	held := make([]Call, count)
	start := time.Now()
	for i := range held {
		instance, err := begin()
		if err != nil {
			return out, err
		}
		held[i] = instance.Export(abi.ExportNode)
		if err := x.once(held[i])(); err != nil {
			return out, err
		}
	}
	out.Elapsed = time.Since(start)
	after, err := proportional()
	out.Bytes = after - before
	return out, errors.Join(err, x.once(held[0])())
}
