package docket

import (
	"hash/maphash"
	"slices"
	"strconv"
)

// place is where an id stands.
type place struct {
	file string
	line int
}

func (p place) String() string { return p.file + ":" + strconv.Itoa(p.line) }

// places knows where ids stand. It keeps a hash of each and not the id, so that a docket of a million cases takes some 36 MB. Two ids of
// a million have the same hash with a probability of 3e-8; the second is then taken for the first. The hash is seeded, so that nobody can
// choose such ids.
type places struct {
	seed  maphash.Seed
	first map[uint64]shortPlace
	files []string
}

// shortPlace is a place with the number of its file.
type shortPlace struct{ file, line uint32 }

func newPlaces() *places { return &places{seed: maphash.MakeSeed(), first: map[uint64]shortPlace{}} }

// register notes where an id stands, or gives where it stood before.
func (p *places) register(id string, at place) (first place, twice bool) {
	hash := maphash.String(p.seed, id)
	if found, ok := p.first[hash]; ok {
		return place{p.files[found.file], int(found.line)}, true
	}
	file := slices.Index(p.files, at.file)
	if file < 0 {
		file = len(p.files)
		p.files = append(p.files, at.file)
	}
	p.first[hash] = shortPlace{uint32(file), uint32(at.line)}
	return at, false
}
