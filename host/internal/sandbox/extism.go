package sandbox

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// Binding is the way in which bytes get into a guest and out of it.
type Binding string

// The bindings.
const (
	Direct Binding = "direct" // pointers into the guest's memory
	Extism Binding = "extism" // blocks of the Extism kernel, which is the host here
)

// bindingOf tells the binding by the imports.
func bindingOf(imports []wasmfile.Import) Binding {
	if slices.ContainsFunc(imports, func(i wasmfile.Import) bool { return i.Module == abi.ExtismEnv || i.Module == abi.ExtismUser }) {
		return Extism
	}
	return Direct
}

// Functions of an Extism guest take nothing; what they give, if anything, is 0 for success.
var (
	signatureExtismCall  = wasmfile.FuncType{Results: i32}
	signatureExtismQuiet = wasmfile.FuncType{}
	signatureExtismUser  = wasmfile.FuncType{Params: []wasmfile.ValueType{wasmfile.I64}, Results: []wasmfile.ValueType{wasmfile.I64}}
)

// guestError is what a guest of Extism says of its own failure.
type guestError struct{ message string }

func (e *guestError) Error() string { return e.message }

// maxMessageBytes of what a guest says of its failure are kept.
const maxMessageBytes = 1 << 10

// call calls one of the contract's functions over the module's binding. Nothing of the answer is believed before it has been checked
// against the limits. The bytes are the caller's own.
func (in *instance) call(export string, request []byte, outputBytes int64) (Output, error) {
	if in.state.kernel != nil {
		return in.extism(export, request, outputBytes)
	}
	return in.direct(export, request, outputBytes)
}

// extism calls over the Extism binding: the guest loads the request from the kernel's input, and names a block of the kernel as output.
func (in *instance) extism(export string, request []byte, outputBytes int64) (output Output, err error) {
	k := in.state.kernel
	in.export = export
	if err := k.begin(request); err != nil {
		return output, err
	}
	in.stack[0] = 0
	if err := in.function(export).CallWithStack(in.ctx, in.stack[:1]); err != nil {
		return output, err
	}
	if err := in.state.meter.over(); err != nil {
		return output, err
	}
	if said := k.failure(uint32(in.stack[0])); said != nil {
		return output, said
	}
	if k.output.length > uint64(outputBytes) {
		return output, &bindingError{CauseOutputTooLarge, strconv.FormatUint(k.output.length, 10) + " bytes, the limit is " + strconv.FormatInt(outputBytes, 10)}
	}
	view, ok := k.view(k.output.offset, k.output.length)
	if !ok {
		return output, &bindingError{CauseOutputOutOfBounds, k.span(k.output.offset, k.output.length)}
	}
	spent := uint64(in.state.meter.spent())
	return Output{Bytes: append(make([]byte, 0, len(view)), view...), Fuel: &spent}, nil
}

// failure is what the guest says of itself: its function gave something else than 0, or it set an error.
func (k *kernel) failure(code uint32) error {
	if code == 0 && k.err == 0 {
		return nil
	}
	message := "returned " + strconv.FormatInt(int64(int32(code)), 10)
	if view, ok := k.view(k.err, min(k.length(k.err), maxMessageBytes)); ok && len(view) > 0 {
		message = strings.ToValidUTF8(string(view), "\uFFFD")
	}
	return &guestError{message}
}

// instantiateExtism gives a runtime the functions of Extism's environment, and
// the capabilities as its user functions, that a checked file imports.
func instantiateExtism(ctx context.Context, runtime wazero.Runtime, file *wasmfile.File) error {
	env, user := runtime.NewHostModuleBuilder(abi.ExtismEnv), runtime.NewHostModuleBuilder(abi.ExtismUser)
	known := extismCalls()
	done := map[importName]bool{}
	for _, imp := range file.Imports {
		name := importName{imp.Module, imp.Name}
		if done[name] {
			continue
		}
		done[name] = true
		add := func(to wazero.HostModuleBuilder, f api.GoModuleFunc) {
			to.NewFunctionBuilder().WithGoModuleFunction(f, wazeroTypes(imp.Func.Params), wazeroTypes(imp.Func.Results)).Export(imp.Name)
		}
		switch imp.Module {
		case abi.ExtismEnv:
			add(env, known[imp.Name].adapt(imp.Name))
		case abi.ExtismUser:
			add(user, extismCapability(abi.Capability(imp.Name)))
		}
	}
	if bindingOf(file.Imports) != Extism {
		return nil
	}
	_, err := env.Instantiate(ctx)
	_, more := user.Instantiate(ctx)
	return errors.Join(err, more)
}

// extismCapability is a capability as a guest of Extism calls it: with a block
// that holds the request, for a block with the answer, or 0 for an empty one.
func extismCapability(capability abi.Capability) api.GoModuleFunc {
	return func(ctx context.Context, _ api.Module, stack []uint64) {
		state := guestOf(ctx)
		offset, err := state.useBlock(capability, stack[0])
		if err == nil {
			err = state.meter.over()
		}
		if err == nil {
			err = state.meter.due()
		}
		if err != nil {
			panic(err)
		}
		stack[0] = offset
	}
}

// useBlock answers the request in a block of the kernel with another.
func (s *guestState) useBlock(capability abi.Capability, offset uint64) (uint64, error) {
	request, ok := s.kernel.view(offset, s.kernel.length(offset))
	if !ok {
		return 0, &bindingError{CauseBadPointer, "request of " + string(capability) + ": " + s.kernel.span(offset, 0)}
	}
	answer, err := s.answer(capability, request)
	if err != nil || len(answer) == 0 {
		return 0, err
	}
	return s.kernel.store(answer)
}

// extismLogInfo is the level from which a PDK logs.
const extismLogInfo = 2

// extismCall is a function of Extism's environment. Without a run it ends the call as denied: PDKs link functions that a guest never uses.
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

// adapt makes a function for wazero of it. A panic with an error is wazero's way of ending a call from within a host function. The guest
// pays for everything, and so comes for its next fuel, where the clock is looked at.
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
