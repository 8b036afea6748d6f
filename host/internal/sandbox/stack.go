package sandbox

import (
	"errors"
	"reflect"
	"unsafe"

	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"
)

// wazero gives a function a stack of 10 KiB on Go's heap, doubles it when it is too small, and ends the call with a stack overflow once it
// is longer than 50 MB: a recursion makes it 84 MB, beside the 42 MB before. There is no option for that. So each instance has a stack of
// its own outside of Go's heap, on which its functions run. It takes up the pages that were used, and releases them.
//
// Compiled code asks for a larger stack when its stack pointer would pass stackBottomPtr. The engine denies one, which is the overflow, if
// the stack it has is longer than wazeroCeiling. So the stack is just longer, of which only the end can be used, and stackBottomPtr is
// where that begins.
//
// wazero 1.12 keeps these fields, which is no promise: the tests notice if they change. Where they are not found (the interpreter has no
// such stack), or where the machine is not Linux, functions keep the stacks that wazero gives them.
const (
	stackBytes    = 4 << 20    // what a call may use
	stackMargin   = 64 << 10   // can be touched below that, in case compiled code does
	keptStack     = 64 << 10   // stays in memory from call to call
	wazeroCeiling = 50_000_000 // callStackCeiling of wazero
	reservedStack = wazeroCeiling/pageBytes*pageBytes + pageBytes
)

// newStack gives an instance its stack, or nil on a machine that has none.
func newStack() (*pages.Stack, error) {
	s, err := pages.NewStack(reservedStack, stackBytes+stackMargin)
	if errors.Is(err, pages.ErrUnsupported) {
		return nil, nil //nolint:nilnil // documented
	}
	return s, err
}

// handle is a function of an instance that is kept from call to call.
//
// Where it runs on a stack of wazero's, that keeps the size it has grown to, and how deep a later call may recurse would depend on earlier
// ones: such a handle is not used again once its stack grew.
type handle struct {
	api.Function
	placed bool // on the stack of the instance
	length int  // of the stack otherwise; 0 if it is not known
}

func newHandle(f api.Function, stack *pages.Stack) handle {
	if stack != nil && place(f, stack.Bytes()) {
		return handle{Function: f, placed: true}
	}
	return handle{Function: f, length: stackLength(f)}
}

// grew reports whether a stack of wazero's is not as long as it was.
func (h handle) grew() bool { return !h.placed && stackLength(h.Function) != h.length }

// place has a function run on a stack, and reports whether wazero's fields were found.
func place(f api.Function, stack []byte) bool {
	fields, ok := fieldsOf(f)
	if !ok {
		return false
	}
	engine := reflect.ValueOf(f).UnsafePointer()
	top := uintptr(unsafe.Pointer(unsafe.SliceData(stack))) + uintptr(len(stack)) - 16 // aligned to 16 bytes, as wazero wants it
	*(*[]byte)(unsafe.Add(engine, fields.stack)) = stack
	*(*uintptr)(unsafe.Add(engine, fields.top)) = top
	*(**byte)(unsafe.Add(engine, fields.bottom)) = &stack[len(stack)-stackBytes]
	return true
}

func stackLength(f api.Function) int {
	fields, ok := fieldsOf(f)
	if !ok {
		return 0
	}
	return len(*(*[]byte)(unsafe.Add(reflect.ValueOf(f).UnsafePointer(), fields.stack)))
}

// engineFields are the offsets of what wazero keeps of a stack.
type engineFields struct{ stack, top, bottom uintptr }

// fieldsOf finds them in the engine behind a function.
func fieldsOf(f api.Function) (fields engineFields, ok bool) {
	pointer := reflect.TypeOf(f)
	if pointer.Kind() != reflect.Pointer || pointer.Elem().Kind() != reflect.Struct {
		return fields, false
	}
	engine := pointer.Elem()
	execution, ok := engine.FieldByName("execCtx")
	if !ok || execution.Type.Kind() != reflect.Struct {
		return fields, false
	}
	stack, hasStack := engine.FieldByName("stack")
	top, hasTop := engine.FieldByName("stackTop")
	bottom, hasBottom := execution.Type.FieldByName("stackBottomPtr")
	if !hasStack || !hasTop || !hasBottom || stack.Type != reflect.TypeFor[[]byte]() ||
		top.Type != reflect.TypeFor[uintptr]() || bottom.Type != reflect.TypeFor[*byte]() {
		return fields, false
	}
	return engineFields{stack.Offset, top.Offset, execution.Offset + bottom.Offset}, true
}
