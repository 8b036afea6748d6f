package casebook

import (
	"encoding/binary"
	"hash/fnv"
	"strings"
)

const (
	sketchSize = 128
	// Two sketches meet in a band if all its places are equal. With 32 bands of 4, failures of which 3 in 5 shingles are
	// shared meet with probability 0.99, and of which 1 in 5, with 0.05.
	bandSize = 4
	bands    = sketchSize / bandSize
	// A shingle is so many words that follow each other in a line.
	shingleWords = 3
)

// Sketch is a MinHash (Broder 1997) of the word shingles of a failure. The zero value is the sketch of no words.
type Sketch [sketchSize]uint32

// Similarity estimates the share of shingles that two failures have in common (the Jaccard index), in [0, 1], with a
// standard error of at most 0.045. Failures without words are not alike.
func (s Sketch) Similarity(other Sketch) float64 {
	if s == (Sketch{}) || other == (Sketch{}) {
		return 0
	}
	same := 0
	for i := range s {
		if s[i] == other[i] {
			same++
		}
	}
	return float64(same) / sketchSize
}

func sketchOf(lines []string) Sketch {
	var smallest [sketchSize]uint64
	for i := range smallest {
		smallest[i] = ^uint64(0)
	}
	for _, line := range lines {
		words := strings.Fields(line)
		for i := range max(1, len(words)-shingleWords+1) {
			lower(&smallest, strings.Join(words[i:min(i+shingleWords, len(words))], " "))
		}
	}
	var s Sketch
	for i, h := range smallest {
		if h != ^uint64(0) {
			s[i] = uint32(h>>32) | 1 // never 0: that is the sketch of no words
		}
	}
	return s
}

// lower takes a shingle into the smallest hashes, one for each of sketchSize permutations.
func lower(smallest *[sketchSize]uint64, shingle string) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(shingle)) // a hash never fails
	sum := h.Sum64()
	for i := range smallest {
		smallest[i] = min(smallest[i], mix(sum^mix(uint64(i)+1)))
	}
}

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood 2014), a permutation of 64 bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (s Sketch) bytes() []byte {
	b := make([]byte, 0, 4*sketchSize)
	for _, v := range s {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

func sketchFrom(b []byte) (s Sketch, ok bool) {
	if len(b) != 4*sketchSize {
		return s, false
	}
	for i := range s {
		s[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	return s, true
}

// keys are the bands as numbers, each of which also says which band it is.
func (s Sketch) keys() []int64 {
	if s == (Sketch{}) {
		return nil
	}
	keys := make([]int64, bands)
	for i := range keys {
		h := mix(uint64(i) + 1)
		for _, v := range s[i*bandSize : (i+1)*bandSize] {
			h = mix(h ^ uint64(v))
		}
		keys[i] = int64(h)
	}
	return keys
}
