package main

import (
	"context"
	"fmt"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero"
)

const extismExport = "bench_node"

// Extism is a guest of Extism's in go-sdk: warm in one plugin that is used
// again, fresh in a plugin of its own for every call.
func Extism(ctx context.Context, wasm []byte) (warm, fresh Call, closed func(), err error) {
	manifest := extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}}
	compiled, err := extism.NewCompiledPlugin(ctx, manifest, extism.PluginConfig{EnableWasi: true}, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	instance := func() (*extism.Plugin, error) {
		return compiled.Instance(ctx, extism.PluginInstanceConfig{ModuleConfig: wazero.NewModuleConfig()})
	}
	kept, err := instance()
	if err != nil {
		_ = compiled.Close(ctx)
		return nil, nil, nil, err
	}
	call := func(p *extism.Plugin, request []byte) ([]byte, error) {
		code, out, err := p.Call(extismExport, request)
		if err != nil || code != 0 {
			return nil, fmt.Errorf("code %d: %w", code, err)
		}
		return out, nil
	}
	warm = func(request []byte) ([]byte, error) { return call(kept, request) }
	fresh = func(request []byte) ([]byte, error) {
		p, err := instance()
		if err != nil {
			return nil, err
		}
		defer func() { _ = p.Close(ctx) }()
		return call(p, request)
	}
	return warm, fresh, func() { _ = kept.Close(ctx); _ = compiled.Close(ctx) }, nil
}
