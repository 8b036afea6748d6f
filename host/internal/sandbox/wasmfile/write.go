package wasmfile

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// CodeDigest is SHA-256 over the module without its custom sections: two
// modules that differ in nothing but manifest, names or debug information
// have the same.
func (f *File) CodeDigest() [sha256.Size]byte {
	h := sha256.New()
	h.Write(header[:])
	for _, s := range f.Sections {
		if s.ID != SectionCustom {
			h.Write(f.wasm[s.Start:s.End])
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func appendSection(out []byte, id SectionID, body []byte) []byte {
	out = append(out, byte(id))
	out = binary.AppendUvarint(out, uint64(len(body)))
	return append(out, body...)
}

// WithoutCode gives a copy of the module without its custom and other sections, in which every function traps at once.
func (f *File) WithoutCode(without ...SectionID) []byte {
	out := append([]byte{}, header[:]...)
	for _, s := range f.Sections {
		switch {
		case s.ID == SectionCustom || slices.Contains(without, s.ID):
		case s.ID == SectionCode:
			body := binary.AppendUvarint(nil, uint64(len(f.Bodies)))
			for range f.Bodies {
				body = append(body, 3, 0, byte(OpUnreachable), byte(OpEnd)) // 3 bytes, no locals
			}
			out = appendSection(out, SectionCode, body)
		default:
			out = append(out, f.wasm[s.Start:s.End]...)
		}
	}
	return out
}

// Annotate gives a copy of the module whose only custom section of that name
// holds the payload: in the place of the first one that was there, or at the
// end. Everything else keeps its bytes, so the code digest stays. The error
// is an *Error if the module cannot be parsed.
func Annotate(wasm []byte, name string, payload []byte) ([]byte, error) {
	if name == "" || !utf8.ValidString(name) {
		return nil, errors.New("the name of a custom section is UTF-8 and not empty")
	}
	f, err := Parse(wasm)
	if err != nil {
		return nil, err
	}
	body := binary.AppendUvarint(nil, uint64(len(name)))
	body = append(append(body, name...), payload...)

	out := append(make([]byte, 0, len(wasm)+len(body)+8), header[:]...)
	custom, done := 0, false
	for _, s := range f.Sections {
		if s.ID == SectionCustom {
			custom++
			if f.Customs[custom-1].Name == name {
				if !done {
					out = appendSection(out, SectionCustom, body)
					done = true
				}
				continue
			}
		}
		out = append(out, f.wasm[s.Start:s.End]...)
	}
	if !done {
		if custom == maxCustoms {
			return nil, fmt.Errorf("the module has %d custom sections already", maxCustoms)
		}
		out = appendSection(out, SectionCustom, body)
	}
	return out, nil
}
