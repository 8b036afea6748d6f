package wasmfile

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// CodeDigest is SHA-256 over the module without its custom sections: two
// modules that differ in nothing but manifest, names or debug information
// have the same.
func (f *File) CodeDigest() [sha256.Size]byte {
	h := sha256.New()
	h.Write(header[:])
	for _, s := range f.sections {
		if s.id != idCustom {
			h.Write(f.wasm[s.start:s.end])
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Executable gives the module as it is compiled: without its custom sections,
// whose names and debug information a compiler would parse, and with the
// maximum of every table lowered to maxTableEntries, because table.grow is
// otherwise bounded by nothing. Growing may fail at any time, so the code
// means the same.
func (f *File) Executable(maxTableEntries uint32) []byte {
	out := append(make([]byte, 0, len(f.wasm)+64), header[:]...)
	for _, s := range f.sections {
		switch s.id {
		case idCustom:
		case idTable:
			out = f.appendTables(out, s, maxTableEntries)
		default:
			out = append(out, f.wasm[s.start:s.end]...)
		}
	}
	return out
}

func (f *File) appendTables(out []byte, s section, maxEntries uint32) []byte {
	var body []byte
	from := s.body
	for _, t := range f.tables {
		body = append(body, f.wasm[from:t.start]...)
		limit := max(t.limits.Min, maxEntries)
		if t.limits.HasMax {
			limit = min(limit, t.limits.Max)
		}
		body = append(body, 1)
		body = binary.AppendUvarint(body, uint64(t.limits.Min))
		body = binary.AppendUvarint(body, uint64(limit))
		from = t.end
	}
	body = append(body, f.wasm[from:s.end]...)
	return appendSection(out, idTable, body)
}

func appendSection(out []byte, id byte, body []byte) []byte {
	out = append(out, id)
	out = binary.AppendUvarint(out, uint64(len(body)))
	return append(out, body...)
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
	for _, s := range f.sections {
		if s.id == idCustom {
			custom++
			if f.Customs[custom-1].Name == name {
				if !done {
					out = appendSection(out, idCustom, body)
					done = true
				}
				continue
			}
		}
		out = append(out, f.wasm[s.start:s.end]...)
	}
	if !done {
		if custom == maxCustoms {
			return nil, fmt.Errorf("the module has %d custom sections already", maxCustoms)
		}
		out = appendSection(out, idCustom, body)
	}
	return out, nil
}
