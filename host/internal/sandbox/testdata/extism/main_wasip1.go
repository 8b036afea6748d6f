package main

import (
	"errors"
	"strconv"

	"github.com/extism/go-pdk"
)

//go:wasmimport extism:host/env output_set
func outputSet(offset, length uint64)

//go:wasmimport extism:host/env alloc
func alloc(length uint64) uint64

//go:wasmimport extism:host/env free
func free(offset uint64)

//go:wasmimport extism:host/env length
func length(offset uint64) uint64

//go:wasmimport extism:host/env load_u8
func load8(offset uint64) uint32

//go:wasmimport extism:host/env input_load_u8
func inputLoad8(offset uint64) uint32

//go:wasmimport extism:host/env store_u8
func store8(offset uint64, v uint32)

var count int

// node does what the first byte of its input says.
//
//go:wasmexport shadowcourt_node
func node() int32 {
	input := pdk.Input()
	what := byte('e')
	if len(input) > 0 {
		what = input[0]
	}
	switch what {
	case 'e': // echo
		pdk.Output(input)
	case 'c': // count in memory
		count++
		pdk.OutputString(strconv.Itoa(count))
	case 'v': // count in a variable
		n := len(pdk.GetVar("n")) + 1
		pdk.SetVar("n", make([]byte, n))
		pdk.SetVar("gone", []byte("x"))
		pdk.RemoveVar("gone")
		pdk.OutputString(strconv.Itoa(n) + " " + strconv.Itoa(len(pdk.GetVar("gone"))))
	case 'b': // blocks
		pdk.OutputString(blocks())
	case 'i': // what lies beyond the input
		pdk.OutputString(strconv.Itoa(int(inputLoad8(uint64(len(input))))) + " " + strconv.Itoa(int(inputLoad8(1<<40))))
	case 'g': // there is no configuration
		_, ok := pdk.GetConfig("key")
		pdk.OutputString(strconv.FormatBool(ok))
	case 'q': // nothing
	default:
		return misbehave(what)
	}
	return 0
}

func blocks() string {
	a, b := alloc(16), alloc(3)
	store8(b+2, 7)
	out := strconv.Itoa(int(length(a))) + " " + strconv.Itoa(int(length(b))) + " " + strconv.Itoa(int(length(b+1))) +
		" " + strconv.Itoa(int(load8(b+2))) + " " + strconv.Itoa(int(alloc(0)))
	free(a)
	return out + " " + strconv.Itoa(int(length(a)))
}

func misbehave(what byte) int32 {
	switch what {
	case 'E':
		pdk.SetError(errors.New("no words"))
		return 1
	case 'S': // sets an error, and says that all is well
		pdk.SetErrorString("quietly wrong")
	case 'R':
		return 7
	case 'L':
		pdk.Log(pdk.LogError, "said before")
		panic("down")
	case 'O':
		outputSet(1<<33, 8)
	case 'H':
		outputSet(8, 1<<40)
	case 'B':
		for {
			outputSet(alloc(1<<20), 1<<20)
		}
	case 'A':
		alloc(1 << 62)
	case 'V':
		for i := 0; ; i++ {
			pdk.SetVar(strconv.Itoa(i), make([]byte, 1<<20))
		}
	case 'F':
		for {
			free(alloc(64))
		}
	case 'N':
		pdk.NewHTTPRequest(pdk.MethodGet, "http://localhost/").Send()
	}
	return 0
}
