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
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// A crowd is a number of instances that live at the same time.
type crowd struct {
	File  string // the module
	Count int
	Plain bool // instances of wazero's, each started from nothing
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
		for _, c := range []crowd{{file, 1, false}, {file, 100, false}, {file, 1000, false}, {file, 1, true}, {file, 100, true}} {
			out, err := inChild[crowd, crowded](ctx, "child-instances", c)
			if err != nil {
				return err
			}
			b.add(crowdName(l.name, c.Count, c.Plain)+", memory", float64(out.Bytes)/(1<<20), "MiB (PSS)")
			b.add(crowdName(l.name, c.Count, c.Plain)+", time", float64(out.Elapsed)/1e6, "ms")
		}
		for _, what := range []string{", memory", ", time"} {
			b.against(crowdName(l.name, 100, false)+what, crowdName(l.name, 100, true)+what)
		}
	}
	return nil
}

func crowdName(language string, count int, plain bool) string {
	how := "live instances"
	if plain {
		how = "live instances of plain wazero"
	}
	return fmt.Sprintf("%d %s, %s guest", count, how, language)
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
	return holdCalls(ctx, wasm, c.Count)
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
func holdCalls(ctx context.Context, wasm []byte, count int) (out crowded, err error) {
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
	if err := responds(ctx, module); err != nil {
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
			_, err := module.Call(ctx, abi.CallNode, request)
			ended <- err
		})
		select {
		case <-gate.arrived:
		case err := <-ended:
			return out, fmt.Errorf("a call did not wait: %w", err)
		}
	}
	out.Elapsed = time.Since(start)
	after, err := proportional()
	out.Bytes = after - before
	cancel()
	close(gate.open)
	calls.Wait()
	return out, errors.Join(err, engine.Close(context.WithoutCancel(ctx)))
}

// responds makes sure that the module does its work before it waits.
func responds(ctx context.Context, module *sandbox.Module) error {
	x := nodeExchange()
	return x.once(func(request []byte) ([]byte, error) {
		out, err := module.Call(ctx, abi.CallNode, request)
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
