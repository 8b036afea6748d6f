package docket

import (
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
)

// places knows where ids stand. It keeps a hash of each and not the id, 16 bytes in a table that is at least half full, so
// that a docket of a million cases takes some 25 MB. Two ids of a million have the same hash with a probability of 3e-8; the
// second is then taken for the first. The hash is seeded, so that nobody can choose such ids.
type places struct {
	seed   maphash.Seed
	shards [256]shard // each grows by itself, so that little is copied at once
	files  []string
}

// shard is a hash table with linear probing.
type shard struct {
	slots []slot
	used  int
}

// slot is free where the line is 0.
type slot struct {
	hash       uint64
	file, line uint32
}

func newPlaces() *places { return &places{seed: maphash.MakeSeed()} }

// register notes where an id stands, or gives where it stood before.
func (p *places) register(id string, at place) (first place, twice bool) {
	hash := maphash.String(p.seed, id)
	s := &p.shards[hash>>56]
	if 4*(s.used+1) > 3*len(s.slots) {
		s.grow()
	}
	found := s.find(hash)
	if found.line != 0 {
		return place{p.files[found.file], int(found.line)}, true
	}
	*found = slot{hash, p.file(at.file), uint32(min(at.line, math.MaxUint32))}
	s.used++
	return at, false
}

// find gives the slot of a hash, or the free one for it.
func (s *shard) find(hash uint64) *slot {
	i, _ := bits.Mul64(hash<<8, uint64(len(s.slots)))
	for s.slots[i].line != 0 && s.slots[i].hash != hash {
		if i++; i == uint64(len(s.slots)) {
			i = 0
		}
	}
	return &s.slots[i]
}

func (s *shard) grow() {
	const least = 8
	old := s.slots
	s.slots = make([]slot, max(least, len(old)+len(old)/2))
	for _, o := range old {
		if o.line != 0 {
			*s.find(o.hash) = o
		}
	}
}

// file gives the number of a file. Files are read one after the other.
func (p *places) file(name string) uint32 {
	last := len(p.files) - 1
	if last < 0 || p.files[last] != name {
		last = slices.Index(p.files, name)
		if last < 0 {
			p.files = append(p.files, name)
			last = len(p.files) - 1
		}
	}
	return uint32(last)
}
