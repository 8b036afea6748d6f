//go:build cgo

package main

import (
	"errors"

	"github.com/bytecodealliance/wasmtime-go/v39"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Wasmtime is a module over the direct binding in wasmtime: warm in one
// instance that is used again, fresh in an instance of its own for every call.
// Its Go package has no pooling allocator; memories begin as copy-on-write
// images, which is wasmtime's default.
func Wasmtime(wasm []byte) (warm, fresh Call, closed func(), err error) {
	engine := wasmtime.NewEngine()
	module, err := wasmtime.NewModule(engine, wasm)
	if err != nil {
		return nil, nil, nil, err
	}
	linker := wasmtime.NewLinker(engine)
	if err := linker.DefineWasi(); err != nil {
		return nil, nil, nil, err
	}
	begin := func() (Call, func(), error) {
		store := wasmtime.NewStore(engine)
		store.SetWasi(wasmtime.NewWasiConfig())
		instance, err := linker.Instantiate(store, module)
		if err != nil {
			return nil, nil, err
		}
		if initialize := instance.GetFunc(store, abi.ExportInitialize); initialize != nil {
			if _, err := initialize.Call(store); err != nil {
				return nil, nil, err
			}
		}
		return wasmtimeCall(store, instance), store.Close, nil
	}
	warm, done, err := begin()
	if err != nil {
		return nil, nil, nil, err
	}
	fresh = func(request []byte) ([]byte, error) {
		call, done, err := begin()
		if err != nil {
			return nil, err
		}
		defer done()
		return call(request)
	}
	return warm, fresh, func() { done(); linker.Close(); module.Close(); engine.Close() }, nil
}

func wasmtimeCall(store *wasmtime.Store, instance *wasmtime.Instance) Call {
	alloc, node := instance.GetFunc(store, abi.ExportAlloc), instance.GetFunc(store, abi.ExportNode)
	memory := instance.GetExport(store, abi.ExportMemory).Memory()
	return func(request []byte) ([]byte, error) {
		at, err := alloc.Call(store, int32(len(request)))
		if err != nil {
			return nil, err
		}
		copy(memory.UnsafeData(store)[uint32(at.(int32)):], request)
		out, err := node.Call(store, at, int32(len(request)))
		if err != nil {
			return nil, err
		}
		packed := uint64(out.(int64))
		start, length := packed>>32, packed&(1<<32-1)
		data := memory.UnsafeData(store)
		if start+length > uint64(len(data)) {
			return nil, errors.New("response outside of memory")
		}
		return append([]byte{}, data[start:start+length]...), nil
	}
}
