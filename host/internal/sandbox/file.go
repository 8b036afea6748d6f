package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"
)

// File is the file of a module. Its bytes may be read late: a module that was compiled before is loaded without them.
type File interface {
	// Inspect reads the file without compiling or running anything; see [Inspect].
	Inspect() (Info, error)
	// Bytes of the file, which must not change.
	Bytes() ([]byte, error)
}

// Bytes are a File in memory.
type Bytes []byte

// Inspect is [Inspect].
func (b Bytes) Inspect() (Info, error) { return Inspect(b) }

// Bytes are b.
func (b Bytes) Bytes() ([]byte, error) { return b, nil }

// Headed is a File of which the head is in memory.
type Headed struct {
	Head []byte
	Read func() ([]byte, error) // the file
}

// headSection is the custom section of a head that holds what needs the whole file: its digest, that of its code, and its size.
const headSection = "shadowcourt_head"

var errNoHead = errors.New("not the head of a module")

// HeadOf gives what is left of a module without code, data and elements, to be inspected in place of the file. The error is a
// *wasmfile.Error.
func HeadOf(wasm []byte) ([]byte, error) {
	info, err := Inspect(wasm)
	if err != nil {
		return nil, err
	}
	head := info.file.WithoutCode(wasmfile.SectionStart, wasmfile.SectionElement, wasmfile.SectionDataCount, wasmfile.SectionData)
	if info.ManifestBytes != nil {
		if head, err = wasmfile.Annotate(head, abi.ManifestSection, info.ManifestBytes); err != nil {
			return nil, err
		}
	}
	payload := slices.Concat(info.Digest[:], info.CodeDigest[:])
	return wasmfile.Annotate(head, headSection, binary.AppendUvarint(payload, uint64(info.Size)))
}

// Inspect gives what [Inspect] gives for the whole file.
func (h Headed) Inspect() (Info, error) {
	file, err := wasmfile.Parse(h.Head)
	if err != nil {
		return Info{}, err
	}
	payload, ok := file.Custom(headSection)
	var digest, code Digest
	if !ok || len(payload) <= len(digest)+len(code) {
		return Info{}, errNoHead
	}
	info := describe(Digest(payload[:len(digest)]), file)
	rest := payload[copy(digest[:], payload):]
	size, _ := binary.Uvarint(rest[copy(code[:], rest):])
	info.CodeDigest, info.Size = code, int(size)
	info.file, info.whole = file, h.parse
	return info, nil
}

// Bytes reads the file.
func (h Headed) Bytes() ([]byte, error) { return h.Read() }

// parse reads and parses the file.
func (h Headed) parse(want Digest) (*wasmfile.File, error) {
	wasm, err := h.Read()
	if err != nil {
		return nil, err
	}
	if got := digestOf(wasm); got != want {
		return nil, fmt.Errorf("the digest of the file is %s, that in its head is %s", got, want)
	}
	return wasmfile.Parse(wasm)
}
