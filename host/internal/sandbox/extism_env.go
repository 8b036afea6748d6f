package sandbox

import (
	"context"
	"math"

	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// extismLogInfo is the level from which a PDK logs.
const extismLogInfo = 2

// extismCall is a function of Extism's environment. Without a run it ends the
// call as denied: PDKs link functions that a guest never uses.
type extismCall struct {
	params, results string // i is i32, I is i64
	run             func(s *guestState, stack []uint64) error
}

// extismCalls is what the module extism:host/env has for guests.
func extismCalls() map[string]extismCall {
	calls := map[string]extismCall{
		"alloc":          {"I", "I", extismAlloc},
		"free":           {"I", "", on(func(k *kernel, stack []uint64) { k.free(stack[0]) })},
		"length":         {"I", "I", on(func(k *kernel, stack []uint64) { stack[0] = k.length(stack[0]) })},
		"length_unsafe":  {"I", "I", on(func(k *kernel, stack []uint64) { stack[0] = k.length(stack[0]) })},
		"load_u8":        {"I", "i", on(func(k *kernel, stack []uint64) { stack[0] = k.load8(stack[0]) })},
		"load_u64":       {"I", "I", on(func(k *kernel, stack []uint64) { stack[0] = k.load64(stack[0]) })},
		"store_u8":       {"Ii", "", on(func(k *kernel, stack []uint64) { k.store8(stack[0], byte(stack[1])) })},
		"store_u64":      {"II", "", on(func(k *kernel, stack []uint64) { k.store64(stack[0], stack[1]) })},
		"input_offset":   {"", "I", on(func(k *kernel, stack []uint64) { stack[0] = k.input.offset })},
		"input_length":   {"", "I", on(func(k *kernel, stack []uint64) { stack[0] = k.input.length })},
		"input_load_u8":  {"I", "i", on(func(k *kernel, stack []uint64) { stack[0] = k.inputLoad8(stack[0]) })},
		"input_load_u64": {"I", "I", on(func(k *kernel, stack []uint64) { stack[0] = k.inputLoad64(stack[0]) })},
		"output_set":     {"II", "", on(func(k *kernel, stack []uint64) { k.output = block{stack[0], stack[1]} })},
		"output_offset":  {"", "I", on(func(k *kernel, stack []uint64) { stack[0] = k.output.offset })},
		"output_length":  {"", "I", on(func(k *kernel, stack []uint64) { stack[0] = k.output.length })},
		"error_set":      {"I", "", on(func(k *kernel, stack []uint64) { k.err = stack[0] })},
		"error_get":      {"", "I", on(func(k *kernel, stack []uint64) { stack[0] = k.err })},
		"memory_bytes":   {"", "I", on(func(k *kernel, stack []uint64) { stack[0] = k.size })},

		"config_get": {"I", "I", on(func(_ *kernel, stack []uint64) { stack[0] = 0 })}, // there is no configuration
		"var_get":    {"I", "I", extismVariable},
		"var_set":    {"II", "", extismSetVariable},

		"get_log_level":    {"", "i", on(func(_ *kernel, stack []uint64) { stack[0] = extismLogInfo })},
		"http_request":     {"II", "I", nil},
		"http_status_code": {"", "i", on(func(_ *kernel, stack []uint64) { stack[0] = 0 })}, // nothing was ever asked
		"http_headers":     {"", "I", on(func(_ *kernel, stack []uint64) { stack[0] = 0 })},
	}
	for _, level := range []string{"trace", "debug", "info", "warn", "error"} {
		calls["log_"+level] = extismCall{"I", "", extismLog}
	}
	return calls
}

// extismSurface adds what a module may import that is bound through Extism.
func extismSurface(to surface) {
	for name, call := range extismCalls() {
		to[importName{abi.ExtismEnv, name}] = wasmfile.FuncType{Params: valueTypes(call.params), Results: valueTypes(call.results)}
	}
}

// on adapts a function that only needs the kernel.
func on(run func(k *kernel, stack []uint64)) func(*guestState, []uint64) error {
	return func(s *guestState, stack []uint64) error {
		run(s.kernel, stack)
		return nil
	}
}

// adapt makes a function for wazero of it. A panic with an error is wazero's
// way of ending a call from within a host function. The guest pays for
// everything, and so comes for its next fuel, where the clock is looked at.
func (c extismCall) adapt(name string) api.GoModuleFunc {
	if c.run == nil {
		return func(context.Context, api.Module, []uint64) { panic(&deniedError{function: name}) }
	}
	return func(ctx context.Context, _ api.Module, stack []uint64) {
		s := guestOf(ctx)
		s.meter.charge(kernelCallFuel)
		if err := c.run(s, stack); err != nil {
			panic(err)
		}
	}
}

// pay charges for bytes before they are made, and ends a call that can't.
func (s *guestState) pay(bytes uint64) error {
	s.meter.charge(min(bytes, math.MaxInt32) * kernelByteFuel)
	return s.meter.over()
}

func extismAlloc(s *guestState, stack []uint64) (err error) {
	if err := s.pay(stack[0]); err != nil {
		return err
	}
	stack[0], err = s.kernel.alloc(stack[0])
	return err
}

// extismVariable gives the value of a variable in a block of its own; 0 if it is not set.
func extismVariable(s *guestState, stack []uint64) (err error) {
	value := s.kernel.variable(stack[0])
	if err := s.pay(s.kernel.length(stack[0]) + uint64(len(value))); err != nil {
		return err
	}
	stack[0], err = s.kernel.store(value)
	return err
}

func extismSetVariable(s *guestState, stack []uint64) error {
	if err := s.pay(s.kernel.length(stack[0]) + s.kernel.length(stack[1])); err != nil {
		return err
	}
	return s.kernel.setVariable(stack[0], stack[1])
}

// extismLog takes a line of a guest's log for its standard error, and frees the block.
func extismLog(s *guestState, stack []uint64) error {
	if line, ok := s.kernel.view(stack[0], s.kernel.length(stack[0])); ok {
		s.write(line)
		s.write([]byte{'\n'})
	}
	s.kernel.free(stack[0])
	return nil
}
