package module

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// stand holds the module in every way in which it is measured.
type stand struct {
	options Options
	entries []entry
}

// entry is the module on an engine of its own.
type entry struct {
	name   string
	bare   bool // measured without being reset
	engine *sandbox.Engine
	module *sandbox.Module
}

// load opens an engine for each way. The first is that of every trial.
func (s *stand) load(ctx context.Context, wasm []byte, manifest *abi.Manifest) error {
	type way struct {
		name   string
		bare   bool
		config sandbox.Config
	}
	var ways []way
	for _, reset := range sandbox.Resets() {
		ways = append(ways, way{name: pristine + reset.String(), config: sandbox.Config{Reset: reset}})
	}
	ways = append(ways,
		way{Unmetered, true, sandbox.Config{Metering: sandbox.MeterNone}},
		way{Interrupted, true, sandbox.Config{Metering: sandbox.MeterRuntime}})
	for i, w := range ways {
		s.options.Progress("loading: "+w.name, i, len(ways))
		w.config.CacheDir, w.config.Now = s.options.CacheDir, s.options.Now
		engine, err := sandbox.New(ctx, w.config)
		if err != nil {
			return err
		}
		s.entries = append(s.entries, entry{name: w.name, bare: w.bare, engine: engine})
		module, err := registry.LoadOne(ctx, engine, wasm, manifest)
		if err != nil {
			return err
		}
		s.entries[i].module = module
	}
	return nil
}

// rivals make the call of a sample in every way. done frees what they hold.
func (s *stand) rivals(ctx context.Context, sample registry.Sample) (rivals []*rival, done func(), err error) {
	var held []*sandbox.Bare
	done = func() {
		for _, b := range held {
			b.Close()
		}
	}
	addBare := func(name string, m *sandbox.Module) error {
		b, err := m.Bare(ctx)
		if err != nil {
			return err
		}
		held = append(held, b)
		rivals = append(rivals, &rival{name: name, call: func() error {
			_, err := b.Call(ctx, sample.Call, sample.Request)
			return err
		}})
		return nil
	}
	if err := addBare(Warm, s.entries[0].module); err != nil {
		return nil, done, err
	}
	for _, e := range s.entries {
		if e.bare {
			if err := addBare(e.name, e.module); err != nil {
				return nil, done, err
			}
			continue
		}
		rivals = append(rivals, &rival{name: e.name, call: func() error {
			_, err := e.module.Call(ctx, sample.Call, sample.Request)
			return err
		}})
	}
	return rivals, done, nil
}

func (s *stand) close(ctx context.Context) {
	for _, e := range s.entries {
		_ = e.engine.Close(ctx) // nothing runs: it waits for nobody, and frees memory only
	}
}
