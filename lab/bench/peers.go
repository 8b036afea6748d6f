package main

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// Call sends a request and gives the response, the caller's own.
type Call func(request []byte) ([]byte, error)

// Sandbox is a module in our sandbox: every call in pristine memory, metered.
func Sandbox(ctx context.Context, e *sandbox.Engine, wasm []byte) (Call, error) {
	m, err := e.Load(ctx, wasm)
	if err != nil {
		return nil, err
	}
	return func(request []byte) ([]byte, error) {
		out, err := m.Call(ctx, abi.CallNode, request)
		return out.Bytes, err
	}, nil
}

// Wazero is a module over the direct binding in one instance of wazero's that
// is never reset, and not metered: the floor of what a call may cost. With
// interruptible set, a cancelled context would end a call, which is wazero's
// own way of ending a loop.
func Wazero(ctx context.Context, wasm []byte, interruptible bool) (Call, func(), error) {
	config := wazero.NewRuntimeConfig().WithCloseOnContextDone(interruptible)
	begin, closed, err := instances(ctx, wasm, config)
	if err != nil {
		return nil, nil, err
	}
	warm, err := begin()
	if err != nil {
		closed()
		return nil, nil, err
	}
	return warm.Export(abi.ExportNode), closed, nil
}

// WazeroInstances makes instances like the one of Wazero, each started from
// nothing. They live until closed.
func WazeroInstances(ctx context.Context, wasm []byte) (begin func() (*Warm, error), closed func(), err error) {
	return instances(ctx, wasm, wazero.NewRuntimeConfig())
}

func instances(ctx context.Context, wasm []byte, config wazero.RuntimeConfig) (begin func() (*Warm, error), closed func(), err error) {
	r := wazero.NewRuntimeWithConfig(ctx, config)
	closed = func() { _ = r.Close(context.WithoutCancel(ctx)) }
	wasi_snapshot_preview1.MustInstantiate(ctx, r)
	code, err := r.CompileModule(ctx, wasm)
	if err != nil {
		closed()
		return nil, nil, err
	}
	return func() (*Warm, error) {
		m, err := r.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithName("").WithStartFunctions(abi.ExportInitialize))
		if err != nil {
			return nil, err
		}
		return &Warm{ctx, m, m.ExportedFunction(abi.ExportAlloc)}, nil
	}, closed, nil
}

// Warm is an instance that is used again and again.
type Warm struct {
	ctx    context.Context //nolint:containedctx // of the whole run
	module api.Module
	alloc  api.Function
}

// Has says whether the module serves one of the contract's functions.
func (w *Warm) Has(name string) bool { return w.module.ExportedFunction(name) != nil }

// Export gives the calls of one of the contract's functions.
func (w *Warm) Export(name string) Call {
	var stack [2]uint64
	memory, function := w.module.Memory(), w.module.ExportedFunction(name)
	return func(request []byte) ([]byte, error) {
		stack[0] = uint64(len(request))
		if err := w.alloc.CallWithStack(w.ctx, stack[:1]); err != nil {
			return nil, err
		}
		if !memory.Write(uint32(stack[0]), request) {
			return nil, fmt.Errorf("allocated at %d", stack[0])
		}
		stack[1] = uint64(len(request))
		if err := function.CallWithStack(w.ctx, stack[:]); err != nil {
			return nil, err
		}
		view, ok := memory.Read(uint32(stack[0]>>32), uint32(stack[0]))
		if !ok {
			return nil, fmt.Errorf("response at %x", stack[0])
		}
		return append(make([]byte, 0, len(view)), view...), nil
	}
}
