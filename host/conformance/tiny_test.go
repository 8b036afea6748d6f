package conformance_test

import (
	"encoding/binary"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// Instructions that the animals use beside those of wasmtest.
const (
	block    byte = 0x02
	brIf     byte = 0x0d
	ret      byte = 0x0f
	selectOp byte = 0x1b
	localSet byte = 0x21
	load8    byte = 0x2d
	i32Eq    byte = 0x46
	i32LtU   byte = 0x49
	i32Shl   byte = 0x74
	i32ShrU  byte = 0x76
)

// tiny is a module of some hundred bytes that keeps the contract: it answers every node and every contest call with bytes that stand in its
// data. Each animal of the zoo is one of these with one thing changed.
type tiny struct {
	wasmtest.Module
	manifest *abi.Manifest // nil: none
	payload  []byte        // of the manifest's section, instead of the manifest
}

// The functions of a tiny module, by their place in Module.Funcs.
const (
	alloc = iota
	node
	contest
)

// newTiny makes one that gives these responses.
func newTiny(nodeResponse, contestResponse []byte) *tiny {
	t := &tiny{manifest: &abi.Manifest{
		Name: "tiny", Version: "1", ABI: abi.Version, Calls: []abi.Call{abi.CallNode, abi.CallContest},
		Families: []abi.Family{abi.FamilyVerdict}, Edges: []string{}, Criteria: []string{}, Capabilities: []abi.Capability{},
	}}
	i32s := []byte{wasmtest.I32, wasmtest.I32}
	t.Module = wasmtest.Module{
		Memory: abi.ExportMemory, MemoryPages: 1, Globals: 1,
		Funcs: []wasmtest.Func{
			{Export: abi.ExportAlloc, Params: i32s[:1], Results: i32s[:1], Body: grow()},
			{Export: abi.ExportNode, Params: i32s, Results: []byte{wasmtest.I64}},
			{Export: abi.ExportContest, Params: i32s, Results: []byte{wasmtest.I64}},
		},
	}
	t.Funcs[node].Body = t.gives(nodeResponse)
	t.Funcs[contest].Body = t.gives(contestResponse)
	return t
}

// gives puts a response into the data, and is the code that returns it.
func (t *tiny) gives(response []byte) []byte {
	at := 8 + len(t.Data) // where wasmtest puts data
	t.Data = append(t.Data, response...)
	return answerAt(at, len(response))
}

// serve has the node function, under the export of another call, give a response.
func (t *tiny) serve(call abi.Call, response []byte) {
	t.Funcs = t.Funcs[:contest]
	t.Funcs[node].Export = abi.ExportPrefix + string(call)
	t.Funcs[node].Body = t.gives(response)
	t.manifest.Calls, t.manifest.Families = []abi.Call{call}, []abi.Family{}
}

// bytes assembles the module, its manifest behind it.
func (t *tiny) bytes() []byte {
	wasm := t.Bytes()
	payload := t.payload
	if payload == nil && t.manifest != nil {
		payload = codec.AppendManifest(nil, t.manifest)
	}
	if payload == nil {
		return wasm
	}
	wasm, err := wasmfile.Annotate(wasm, abi.ManifestSection, payload)
	if err != nil {
		panic(err)
	}
	return wasm
}

// answerAt is pointer<<32 | length.
func answerAt(pointer, length int) []byte {
	return slices.Concat(i64(pointer), i64(32), []byte{wasmtest.I64Shl}, i64(length), []byte{wasmtest.I64Or})
}

func i64(v int) []byte {
	code := wasmtest.Const(int32(v))
	code[0] = wasmtest.I64Const
	return code
}

// grow is an allocator: as many new pages as the request needs, and 0 if they cannot be had.
func grow() []byte {
	return slices.Concat(
		[]byte{wasmtest.LocalGet, 0}, wasmtest.Const(65535), []byte{wasmtest.I32Add}, wasmtest.Const(16), []byte{i32ShrU},
		[]byte{wasmtest.MemoryGrow, 0, localSet, 0},
		wasmtest.Const(0), []byte{wasmtest.LocalGet, 0}, wasmtest.Const(16), []byte{i32Shl},
		[]byte{wasmtest.LocalGet, 0}, wasmtest.Const(-1), []byte{i32Eq, selectOp})
}

// when runs code that returns, or traps, if a condition on the stack holds.
func when(condition, then []byte) []byte {
	return slices.Concat(condition, []byte{wasmtest.If, wasmtest.Void}, then, []byte{ret, wasmtest.End})
}

// byteIs asks for a byte of the request.
func byteIs(at int, want byte) []byte {
	return slices.Concat([]byte{wasmtest.LocalGet, 0, load8, 0}, wasmtest.Uint(nil, at), wasmtest.Const(int32(want)), []byte{i32Eq})
}

// nodeNameIs asks for the first four bytes of the node's name. A node request
// begins with the head of a map, the key `node` and the head of the name.
func nodeNameIs(four string) []byte {
	return slices.Concat([]byte{wasmtest.LocalGet, 0, wasmtest.I32Load, 0}, wasmtest.Uint(nil, 7),
		wasmtest.Const(int32(binary.LittleEndian.Uint32([]byte(four)))), []byte{i32Eq})
}

// lengthIs asks for the length of the request, and longerThan for more than that.
func lengthIs(n int) []byte {
	return slices.Concat([]byte{wasmtest.LocalGet, 1}, wasmtest.Const(int32(n)), []byte{i32Eq})
}

func longerThan(n int) []byte {
	return slices.Concat(wasmtest.Const(int32(n)), []byte{wasmtest.LocalGet, 1, i32LtU})
}

// whenHas looks for four bytes in the request, and runs code if they are there.
func whenHas(four string, then []byte) []byte {
	pattern := wasmtest.Const(int32(binary.LittleEndian.Uint32([]byte(four))))
	return slices.Concat(
		[]byte{block, wasmtest.Void, wasmtest.Loop, wasmtest.Void},
		[]byte{wasmtest.LocalGet, 1}, wasmtest.Const(4), []byte{i32LtU, brIf, 1},
		when(slices.Concat([]byte{wasmtest.LocalGet, 0, wasmtest.I32Load, 0, 0}, pattern, []byte{i32Eq}), then),
		[]byte{wasmtest.LocalGet, 0}, wasmtest.Const(1), []byte{wasmtest.I32Add, localSet, 0},
		[]byte{wasmtest.LocalGet, 1}, wasmtest.Const(1), []byte{wasmtest.I32Sub, localSet, 1},
		[]byte{wasmtest.Br, 0, wasmtest.End, wasmtest.End})
}

// The responses that a good module may give to everything.
func nodeAnswer(a abi.Artifact) []byte {
	return codec.AppendNodeResponse(nil, &abi.NodeResponse{Artifact: &a})
}

func verdict(v abi.Verdict) []byte { return nodeAnswer(abi.Artifact{Verdict: &v}) }

func nodeFailure(code string) []byte {
	return codec.AppendNodeResponse(nil, &abi.NodeResponse{Failure: &abi.Failure{Code: code, Message: "it cannot"}})
}

func challenges(list ...abi.Challenge) []byte {
	return codec.AppendContestResponse(nil, &abi.ContestResponse{Challenges: list})
}

func goodTiny() *tiny {
	return newTiny(verdict(abi.Verdict{Decision: abi.Acquit, Reasoning: "it cannot say"}), challenges())
}
