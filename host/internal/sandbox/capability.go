package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// Broker answers what a guest asks through a capability. It travels with the context of a call, never with the instance, so that the same
// instance asks about another case in its next call.
//
// The request is the guest's, not validated, and the broker's own; the answer is a message, or empty. A [*RequestError] says that the
// request is rejected, a [*DeniedError] that the guest may not ask here; any other error is a failure of the host. The same request must
// have the same answer throughout a trial.
type Broker interface {
	Ask(ctx context.Context, capability abi.Capability, request []byte) (answer []byte, err error)
}

// RequestError says what is wrong with the request of a guest.
type RequestError struct {
	Capability abi.Capability
	Err        error // a *abi.ValidationError
}

// Error names the capability and the problems.
func (e *RequestError) Error() string { return string(e.Capability) + ": " + e.Err.Error() }

// Unwrap gives the problems.
func (e *RequestError) Unwrap() error { return e.Err }

// DeniedError says that a guest used a capability where it has none.
type DeniedError struct {
	Capability abi.Capability
	Why        string
}

// Error names the capability and the reason.
func (e *DeniedError) Error() string { return string(e.Capability) + " " + e.Why }

type brokerKey struct{}

// WithBroker gives the context of a call whose guest asks this broker. Without one every question has the answer of a host that knows
// nothing, and so have those that a guest asks before its call: when it starts, and when it is warmed.
func WithBroker(ctx context.Context, broker Broker) context.Context {
	return context.WithValue(ctx, brokerKey{}, broker)
}

func brokerOf(ctx context.Context) Broker {
	if broker, ok := ctx.Value(brokerKey{}).(Broker); ok {
		return broker
	}
	return emptyDesk{}
}

// emptyDesk is where warm calls ask: it knows nothing.
type emptyDesk struct{}

func (emptyDesk) Ask(ctx context.Context, capability abi.Capability, request []byte) ([]byte, error) {
	return Answer(ctx, Nothing{}, capability, request)
}

// How often one call may use its capabilities, and how large a request may be.
const (
	maxLogLines  = 100
	maxQueries   = 256
	capabilityIO = 512 << 10 // the most bytes of a request
)

// uses counts what one call has asked.
type uses struct{ lines, queries int }

// count says whether the call may ask again. A line too many is dropped: nothing depends on it.
func (u *uses) count(capability abi.Capability) (ask bool, err error) {
	if capability == abi.CapLog {
		u.lines++
		return u.lines <= maxLogLines, nil
	}
	if u.queries++; u.queries > maxQueries {
		return false, &DeniedError{capability, fmt.Sprintf("after %d questions in one call", maxQueries)}
	}
	return true, nil
}

// Capabilities are those that there are functions for, in the contract's order.
func Capabilities() []abi.Capability {
	return []abi.Capability{abi.CapLog, abi.CapRecall, abi.CapCorrelate, abi.CapSource}
}

// signatureCapability is that of all of them: request, its length, room for the answer, its capacity; the answer's length.
var signatureCapability = wasmfile.FuncType{
	Params: []wasmfile.ValueType{wasmfile.I32, wasmfile.I32, wasmfile.I32, wasmfile.I32}, Results: i32,
}

// granting is the surface with capabilities beside what every module may import.
func (s surface) granting(granted []abi.Capability) surface {
	if len(granted) == 0 {
		return s
	}
	more := make(surface, len(s)+len(granted))
	maps.Copy(more, s)
	for _, capability := range granted {
		if slices.Contains(Capabilities(), capability) {
			more[importName{abi.CapabilityModule, string(capability)}] = signatureCapability
			more[importName{abi.ExtismUser, string(capability)}] = signatureExtismUser
		}
	}
	return more
}

// instantiateCapabilities gives a runtime the capabilities that a checked file imports.
func instantiateCapabilities(ctx context.Context, runtime wazero.Runtime, file *wasmfile.File) error {
	builder := runtime.NewHostModuleBuilder(abi.CapabilityModule)
	var done []string
	for _, imp := range file.Imports {
		if imp.Module != abi.CapabilityModule || slices.Contains(done, imp.Name) {
			continue
		}
		done = append(done, imp.Name)
		builder.NewFunctionBuilder().
			WithGoModuleFunction(capabilityFunc(abi.Capability(imp.Name)), wazeroTypes(imp.Func.Params), wazeroTypes(imp.Func.Results)).
			Export(imp.Name)
	}
	if len(done) == 0 {
		return nil
	}
	_, err := builder.Instantiate(ctx)
	return err
}

// capabilityFunc is a capability as a guest calls it. A panic with an error ends the call.
func capabilityFunc(capability abi.Capability) api.GoModuleFunc {
	return func(ctx context.Context, module api.Module, stack []uint64) {
		state := guestOf(ctx)
		length, err := state.use(capability, module.Memory(), stack)
		if err == nil {
			err = state.meter.over()
		}
		if err == nil {
			err = state.meter.due()
		}
		if err != nil {
			panic(err)
		}
		stack[0] = uint64(length)
	}
}

// use answers one request of the guest, and gives the length of the answer.
func (s *guestState) use(capability abi.Capability, memory api.Memory, stack []uint64) (uint32, error) {
	pointer, length := uint32(stack[0]), uint32(stack[1])
	room, capacity := uint32(stack[2]), uint32(stack[3])
	view, ok := memory.Read(pointer, length)
	if !ok {
		return 0, &bindingError{CauseBadPointer, "request of " + string(capability) + ": " + span(pointer, length, memory.Size())}
	}
	answer, err := s.answer(capability, view)
	if err != nil {
		return 0, err
	}
	if len(answer) > 0 && len(answer) <= int(capacity) && !memory.Write(room, answer) {
		return 0, &bindingError{CauseBadPointer, "answer of " + string(capability) + ": " + span(room, uint32(len(answer)), memory.Size())}
	}
	return uint32(len(answer)), nil
}

// answer has the call pay for a question, and asks it.
func (s *guestState) answer(capability abi.Capability, request []byte) ([]byte, error) {
	if len(request) > capabilityIO {
		return nil, &RequestError{capability, errors.New(bytesOver(int64(len(request)), capabilityIO))}
	}
	s.meter.charge(capabilityCost(capability, len(request)))
	if err := s.meter.over(); err != nil {
		return nil, err
	}
	if ask, err := s.uses.count(capability); !ask {
		return nil, err
	}
	answer, err := s.ask(capability, slices.Clone(request))
	if err == nil {
		s.meter.charge(uint64(len(answer)) * queryByte)
	}
	return answer, err
}

func capabilityCost(capability abi.Capability, request int) uint64 {
	cost := uint64(queryFuel)
	if capability == abi.CapLog {
		cost = logLineFuel
	}
	return cost + uint64(request)*queryByte
}

// ask calls the broker of the call, no longer than the call may last.
func (s *guestState) ask(capability abi.Capability, request []byte) ([]byte, error) {
	m := &s.meter
	ctx, cancel := context.WithTimeout(m.caller, m.deadline.Sub(m.now()))
	defer cancel()
	answer, err := s.broker.Ask(ctx, capability, request)
	switch {
	case err == nil:
		return answer, nil
	case m.caller.Err() != nil:
		return nil, errCancelled
	case ctx.Err() != nil:
		return nil, errWallClock
	}
	return nil, err
}
