package sandbox

import "github.com/shadowcourt/shadowcourt/abi"

// bindingError is what a guest did against the binding: its allocator or its
// answer makes no sense.
type bindingError struct {
	cause  Cause
	detail string
}

func (e *bindingError) Error() string { return string(e.cause) + ": " + e.detail }

// direct calls one of the contract's functions over the direct binding: the
// guest allocates, the host writes the request and calls, the answer is
// pointer<<32 | length. Nothing of the answer is believed before it has been
// checked against the limit and the memory. The bytes are the caller's own.
func (in *instance) direct(export string, request []byte, outputBytes int64) (output Output, err error) {
	stack := in.stack[:]
	in.export = abi.ExportAlloc
	stack[0] = uint64(len(request))
	if err := in.function(abi.ExportAlloc).CallWithStack(in.ctx, stack[:1]); err != nil {
		return output, err
	}
	pointer := uint32(stack[0])
	if pointer == 0 && len(request) > 0 {
		return output, &bindingError{CauseOutOfMemory, abi.ExportAlloc + " gave no memory"}
	}
	if !in.module.Memory().Write(pointer, request) {
		return output, &bindingError{CauseBadPointer, span(pointer, uint32(len(request)), in.module.Memory().Size())}
	}

	in.export = export
	stack[0], stack[1] = uint64(pointer), uint64(len(request))
	if err := in.function(export).CallWithStack(in.ctx, stack); err != nil {
		return output, err
	}
	if err := in.state.meter.over(); err != nil {
		return output, err
	}
	pointer, length := uint32(stack[0]>>32), uint32(stack[0])
	if int64(length) > outputBytes {
		return output, &bindingError{CauseOutputTooLarge, bytesOver(int64(length), outputBytes)}
	}
	view, ok := in.module.Memory().Read(pointer, length)
	if !ok {
		return output, &bindingError{CauseOutputOutOfBounds, span(pointer, length, in.module.Memory().Size())}
	}
	spent := uint64(in.state.meter.spent())
	return Output{Bytes: append(make([]byte, 0, length), view...), Fuel: &spent}, nil
}
