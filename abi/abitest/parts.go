package abitest

import (
	"encoding/binary"
	"slices"
)

// part is an entry of a map in a canonical message.
type part struct {
	path     string
	head     int // where the map begins
	key      int // where the entry begins
	from, to int // the value
	list     bool
}

// without gives the message without the entry, and with an empty list in it.
func (p *part) without(whole []byte) []variant {
	left := slices.Concat(whole[:p.key], whole[p.to:])
	left[p.head]-- // maps of the contract have 15 entries at most
	list := []variant{{"without " + p.path, left}}
	if p.list && whole[p.from] != 0x90 {
		list = append(list, variant{"with an empty " + p.path, slices.Concat(whole[:p.from], []byte{0x90}, whole[p.to:])})
	}
	return list
}

// partsOf gives the entries of the maps of a canonical message; of a list those
// of its first element.
func partsOf(message []byte) []part {
	w := &walk{message: message}
	w.value(0, "", true)
	return w.parts
}

type walk struct {
	message []byte
	parts   []part
}

// value steps over the value at a place, and gives the place behind it.
func (w *walk) value(at int, path string, keep bool) int {
	var count int
	head, next := w.message[at], at+1
	wide := func(bytes int) int {
		n := 0
		for _, b := range w.message[at+1 : at+1+bytes] {
			n = n<<8 | int(b)
		}
		next += bytes
		return n
	}
	switch {
	case head>>4 == 0x8:
		return w.fields(at, int(head&15), path, keep)
	case head>>4 == 0x9:
		count = int(head & 15)
	case head == 0xdc || head == 0xdd:
		count = wide(2 << (head - 0xdc))
	case head>>5 == 0x5:
		return next + int(head&31)
	case head >= 0xd9 && head <= 0xdb:
		n := wide(1 << (head - 0xd9))
		return next + n
	case head == 0xcb:
		return next + binary.Size(uint64(0))
	case head >= 0xcc && head <= 0xcf:
		return next + 1<<(head-0xcc)
	case head >= 0xd0 && head <= 0xd3:
		return next + 1<<(head-0xd0)
	default:
		return next
	}
	for i := range count {
		next = w.value(next, path+"[0]", keep && i == 0)
	}
	return next
}

// fields steps over the entries of a map.
func (w *walk) fields(at, count int, path string, keep bool) int {
	next := at + 1
	for range count {
		p := part{head: at, key: next}
		p.from = w.value(next, "", false)
		name := string(w.message[next+1 : p.from]) // names are short
		if p.path = name; path != "" {
			p.path = path + "." + name
		}
		here := len(w.parts)
		w.parts = append(w.parts, p)
		p.to = w.value(p.from, p.path, keep)
		first := w.message[p.from]
		p.list = first>>4 == 0x9 || first == 0xdc || first == 0xdd
		w.parts[here] = p
		if !keep {
			w.parts = w.parts[:here]
		}
		next = p.to
	}
	return next
}
