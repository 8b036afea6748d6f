package sandbox

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

const wasiModule = "wasi_snapshot_preview1"

// The errors of preview1 that are used here.
const (
	errnoSuccess = 0
	errnoBadf    = 8
	errnoFault   = 21
	errnoInval   = 28
	errnoSpipe   = 70
)

// deniedError ends a call whose guest used a system function that it has no right to.
type deniedError struct{ function string }

func (e *deniedError) Error() string { return e.function + " is denied" }

// exitError ends a call whose guest ended itself. It is our own, because wazero's reserves two exit codes for contexts that ended, and a
// guest must not be able to pass for one of those.
type exitError struct{ code uint32 }

func (e *exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// systemFunc is a function of preview1: parameters are on the stack, the result is an errno.
type systemFunc func(s *guestState, memory api.Memory, stack []uint64) uint64

// systemCall is a function that a guest may link. Without a run it ends the call as denied: most toolchains link functions that they never
// use, so only the use can be rejected.
type systemCall struct {
	params string // i is i32, I is i64
	run    systemFunc
}

// systemCalls is all of preview1 but its sockets, which no toolchain links unasked: a module that imports one is rejected.
func systemCalls() map[string]systemCall {
	return map[string]systemCall{
		"args_get":          {"ii", succeed},
		"args_sizes_get":    {"ii", emptySizes},
		"environ_get":       {"ii", succeed},
		"environ_sizes_get": {"ii", emptySizes},

		"clock_res_get":  {"ii", clockResolution},
		"clock_time_get": {"iIi", clockTime},
		"poll_oneoff":    {"iiii", pollOneoff},
		"random_get":     {"ii", randomGet},
		"sched_yield":    {"", succeed},

		"fd_close":            {"i", onStream(succeed)},
		"fd_fdstat_get":       {"ii", fdstatGet},
		"fd_fdstat_set_flags": {"ii", onStream(succeed)},
		"fd_filestat_get":     {"ii", onStream(filestatGet)},
		"fd_prestat_dir_name": {"iii", prestatDirName},
		"fd_prestat_get":      {"ii", prestatGet},
		"fd_read":             {"iiii", fdRead},
		"fd_seek":             {"iIii", onStream(fail(errnoSpipe))},
		"fd_tell":             {"ii", onStream(fail(errnoSpipe))},
		"fd_write":            {"iiii", fdWrite},

		"fd_advise":               {"iIIi", nil},
		"fd_allocate":             {"iII", nil},
		"fd_datasync":             {"i", nil},
		"fd_fdstat_set_rights":    {"iII", nil},
		"fd_filestat_set_size":    {"iI", nil},
		"fd_filestat_set_times":   {"iIIi", nil},
		"fd_pread":                {"iiiIi", nil},
		"fd_pwrite":               {"iiiIi", nil},
		"fd_readdir":              {"iiiIi", nil},
		"fd_renumber":             {"ii", nil},
		"fd_sync":                 {"i", nil},
		"path_create_directory":   {"iii", nil},
		"path_filestat_get":       {"iiiii", nil},
		"path_filestat_set_times": {"iiiiIIi", nil},
		"path_link":               {"iiiiiii", nil},
		"path_open":               {"iiiiiIIii", nil},
		"path_readlink":           {"iiiiii", nil},
		"path_remove_directory":   {"iii", nil},
		"path_rename":             {"iiiiii", nil},
		"path_symlink":            {"iiiii", nil},
		"path_unlink_file":        {"iii", nil},
		"proc_raise":              {"i", nil},
	}
}

const procExit = "proc_exit"

// systemSurface is what every module may import.
func systemSurface() surface {
	s := surface{{wasiModule, procExit}: {Params: i32}}
	for name, call := range systemCalls() {
		s[importName{wasiModule, name}] = wasmfile.FuncType{Params: valueTypes(call.params), Results: i32}
	}
	return s
}

func valueTypes(params string) []wasmfile.ValueType {
	types := make([]wasmfile.ValueType, len(params))
	for i, p := range params {
		types[i] = wasmfile.I32
		if p == 'I' {
			types[i] = wasmfile.I64
		}
	}
	return types
}

func wazeroTypes(types []wasmfile.ValueType) []api.ValueType {
	out := make([]api.ValueType, len(types))
	for i, t := range types {
		out[i] = api.ValueType(t) // both are the codes of the binary format
	}
	return out
}

// instantiateSystem gives a runtime the functions of preview1 that a checked file imports, no others: each costs compiling a trampoline.
func instantiateSystem(ctx context.Context, runtime wazero.Runtime, file *wasmfile.File) error {
	builder := runtime.NewHostModuleBuilder(wasiModule)
	known := systemCalls()
	done := map[string]bool{}
	for _, imp := range file.Imports {
		if imp.Module != wasiModule || done[imp.Name] {
			continue
		}
		done[imp.Name] = true
		f := hostFunc(imp.Name, known[imp.Name].run)
		builder.NewFunctionBuilder().
			WithGoModuleFunction(f, wazeroTypes(imp.Func.Params), wazeroTypes(imp.Func.Results)).
			Export(imp.Name)
	}
	if len(done) == 0 {
		return nil
	}
	_, err := builder.Instantiate(ctx)
	return err
}

// hostFunc adapts a system function to wazero. A panic with an error is wazero's way of ending a call from within a host function.
func hostFunc(name string, run systemFunc) api.GoModuleFunc {
	switch {
	case name == procExit:
		return func(_ context.Context, _ api.Module, stack []uint64) {
			panic(&exitError{code: uint32(stack[0])})
		}
	case run == nil:
		return func(context.Context, api.Module, []uint64) {
			panic(&deniedError{function: name})
		}
	}
	return func(ctx context.Context, module api.Module, stack []uint64) {
		state := guestOf(ctx)
		state.meter.charge(systemCallFuel)
		stack[0] = run(state, module.Memory(), stack) // every checked module has a memory
		if err := state.meter.due(); err != nil {
			panic(err) // a guest may spend all its time here
		}
	}
}

func succeed(*guestState, api.Memory, []uint64) uint64 { return errnoSuccess }

func fail(errno uint64) systemFunc {
	return func(*guestState, api.Memory, []uint64) uint64 { return errno }
}

// emptySizes answers for arguments and environment: none, of zero bytes.
func emptySizes(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	return written(memory.WriteUint32Le(uint32(stack[0]), 0) && memory.WriteUint32Le(uint32(stack[1]), 0))
}

func written(ok bool) uint64 {
	if !ok {
		return errnoFault
	}
	return errnoSuccess
}

// A guest has three streams and a root directory. Nothing can be read from the streams; what is written to them is dropped, but for the
// beginning of standard error, which explains a failing call. The root directory is there so that opening a file reaches path_open and is
// denied by name: without it the guest's own library fails, and nobody learns why.
const (
	fdStdin  = 0
	fdStdout = 1
	fdStderr = 2
	fdRoot   = 3
)

const rootName = "/"

const (
	filetypeCharacterDevice = 2
	filetypeDirectory       = 3

	// maxVectors is the most buffers of one read or write, as IOV_MAX has it.
	maxVectors = 1024

	allRights = 1<<29 - 1
)

func onStream(run systemFunc) systemFunc {
	return func(s *guestState, memory api.Memory, stack []uint64) uint64 {
		if uint32(stack[0]) > fdStderr {
			return errnoBadf
		}
		return run(s, memory, stack)
	}
}

// fdWrite takes (fd, vectors, number of vectors, pointer to the count).
func fdWrite(s *guestState, memory api.Memory, stack []uint64) uint64 {
	fd := uint32(stack[0])
	if fd != fdStdout && fd != fdStderr {
		return errnoBadf
	}
	count := uint32(stack[2])
	if count > maxVectors {
		return errnoInval
	}
	vectors, ok := memory.Read(uint32(stack[1]), count*8)
	if !ok {
		return errnoFault
	}
	s.meter.charge(uint64(count) * vectorFuel)
	total := uint32(0)
	for ; len(vectors) > 0; vectors = vectors[8:] {
		b, ok := memory.Read(le32(vectors), le32(vectors[4:]))
		if !ok {
			return errnoFault
		}
		if fd == fdStderr {
			s.write(b)
		}
		total += uint32(len(b))
	}
	return written(memory.WriteUint32Le(uint32(stack[3]), total))
}

// fdRead takes (fd, vectors, number of vectors, pointer to the count): the end of the file, always.
func fdRead(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	if uint32(stack[0]) != fdStdin {
		return errnoBadf
	}
	return written(memory.WriteUint32Le(uint32(stack[3]), 0))
}

// fdstatGet writes 24 bytes: the file type, two bytes of flags at 2, the rights at 8 and the inherited rights at 16.
func fdstatGet(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	fd := uint32(stack[0])
	if fd > fdRoot {
		return errnoBadf
	}
	stat, ok := memory.Read(uint32(stack[1]), 24)
	if !ok {
		return errnoFault
	}
	clear(stat)
	if fd == fdRoot {
		stat[0] = filetypeDirectory
		putLE64(stat[16:], allRights)
	} else {
		stat[0] = filetypeCharacterDevice
	}
	putLE64(stat[8:], allRights)
	return errnoSuccess
}

// filestatGet writes 64 bytes, all zero but the file type at 16.
func filestatGet(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	stat, ok := memory.Read(uint32(stack[1]), 64)
	if !ok {
		return errnoFault
	}
	clear(stat)
	stat[16] = filetypeCharacterDevice
	return errnoSuccess
}

// prestatGet writes 8 bytes: 0 for a directory, and the length of its name.
func prestatGet(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	if uint32(stack[0]) != fdRoot {
		return errnoBadf
	}
	return written(memory.WriteUint64Le(uint32(stack[1]), uint64(len(rootName))<<32))
}

func prestatDirName(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	if uint32(stack[0]) != fdRoot {
		return errnoBadf
	}
	if uint32(stack[2]) < uint32(len(rootName)) {
		return errnoInval
	}
	return written(memory.WriteString(uint32(stack[1]), rootName))
}
