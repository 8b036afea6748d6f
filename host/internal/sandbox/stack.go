package sandbox

import (
	"reflect"

	"github.com/tetratelabs/wazero/api"
)

// handle is a function of an instance that is kept from call to call, with the
// stack that it runs on.
//
// wazero doubles the stack when it is too small, adds what the function at hand
// asks for, and keeps it: how deep a later call may recurse depends on what
// earlier ones did. So a handle whose stack grew is not used again, which also
// frees up to 100 MB. wazero does not tell how large a stack is; it is read
// where version 1.12 keeps it. Where it is not found (the interpreter has no
// such stack) the handle is kept; the tests notice.
type handle struct {
	api.Function
	stackBytes int
}

func newHandle(f api.Function) handle { return handle{Function: f, stackBytes: stackBytes(f)} }

// grew reports whether the stack is not as large as it was.
func (h handle) grew() bool { return stackBytes(h.Function) != h.stackBytes }

func stackBytes(f api.Function) int {
	engine := reflect.Indirect(reflect.ValueOf(f))
	if engine.Kind() != reflect.Struct {
		return 0
	}
	stack := engine.FieldByName("stack")
	if stack.Kind() != reflect.Slice {
		return 0
	}
	return stack.Len()
}
