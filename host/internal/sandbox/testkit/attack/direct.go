package attack

import (
	"encoding/binary"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// Function is one that the host offers, with its signature.
type Function struct {
	Module, Name    string
	Params, Results []byte
}

func (f Function) imported() wasmtest.Import {
	return wasmtest.Import{Module: f.Module, Name: f.Name, Params: f.Params, Results: f.Results}
}

// vectorsAt is where 1,024 vectors of a mebibyte each stand: the data of every direct guest.
const (
	vectorsAt = 8
	vectors   = 1024
)

func vectorData() []byte {
	var data []byte
	for range vectors {
		data = binary.LittleEndian.AppendUint32(data, firstFree)
		data = binary.LittleEndian.AppendUint32(data, 1<<20)
	}
	return data
}

// systemArguments are those with which a function of preview1 does most, for a
// memory of some pages. Functions that end the call take anything.
func systemArguments(pages int) map[string][]int64 {
	none := make([]int64, 9)
	args := map[string][]int64{
		"args_get": none, "args_sizes_get": none, "environ_get": none, "environ_sizes_get": none, "sched_yield": none,
		"clock_res_get": none, "clock_time_get": none,
		"poll_oneoff": {firstFree, firstFree + 1<<20, 128, 0},
		"random_get":  {firstFree, int64(pages*pageBytes - firstFree)},
		"fd_close":    {2}, "fd_fdstat_get": {3, 0}, "fd_fdstat_set_flags": {2, 0}, "fd_filestat_get": {2, 0},
		"fd_prestat_dir_name": {3, 0, 1}, "fd_prestat_get": {3, 0},
		"fd_read": {0, vectorsAt, vectors, 0}, "fd_seek": {2, 0, 0, 0}, "fd_tell": {2, 0},
		"fd_write":  {2, vectorsAt, vectors, 0},
		"proc_exit": {7},
	}
	for _, ends := range []string{
		"fd_advise", "fd_allocate", "fd_datasync", "fd_fdstat_set_rights", "fd_filestat_set_size", "fd_filestat_set_times",
		"fd_pread", "fd_pwrite", "fd_readdir", "fd_renumber", "fd_sync",
		"path_create_directory", "path_filestat_get", "path_filestat_set_times", "path_link", "path_open", "path_readlink",
		"path_remove_directory", "path_rename", "path_symlink", "path_unlink_file", "proc_raise",
	} {
		args[ends] = none
	}
	return args
}

// System is a guest that calls a function of preview1 in a memory of some pages. It reports whether an attack on the function is known.
func System(f Function, pages int) (Attack, bool) {
	values, ok := systemArguments(pages)[f.Name]
	if !ok || len(values) < len(f.Params) {
		return Attack{}, false
	}
	call := wasmtest.Join(constants(f.Params, values), []byte{wasmtest.Call, 0})
	for range f.Results {
		call = append(call, wasmtest.Drop)
	}
	m := direct(wasmtest.Join(fill(pages), forever(call), i64(0)), f.imported())
	m.Data = vectorData()
	return Attack{Module: f.Module, Function: f.Name, Name: f.Module + "." + f.Name, Wasm: m.Bytes()}, true
}

// Capability is a guest that uses a capability over either binding, with a request as large as the host takes, and room for any answer.
func Capability(f Function, pages int) (Attack, bool) {
	request, ok := capabilityRequest(abi.Capability(f.Name))
	if !ok {
		return Attack{}, false
	}
	a := Attack{Module: f.Module, Function: f.Name, Name: f.Module + "." + f.Name, Request: request, Grant: abi.Capability(f.Name)}
	if f.Module == abi.ExtismUser {
		// The memory stays small: request and answers are blocks.
		a.Wasm = extism(forever([]byte{wasmtest.Call, inputOffset, wasmtest.Call, attacked, wasmtest.Drop}), f).Bytes()
		return a, true
	}
	ask := wasmtest.Join([]byte{wasmtest.LocalGet, 0, wasmtest.LocalGet, 1}, wasmtest.Const(4<<20), wasmtest.Const(4<<20), []byte{wasmtest.Call, 0, wasmtest.Drop})
	m := direct(wasmtest.Join(forever(ask), i64(0)), f.imported())
	m.MemoryPages = pages
	a.Wasm = m.Bytes()
	return a, true
}
