package state

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// entry is what the append channels hold.
type entry interface {
	abi.OpinionEntry | abi.ArtifactEntry | abi.ContestEntry | abi.NodeError
}

// log is an append channel: one entry for each position, so that a retry of a
// node, which gives the same positions, doubles nothing.
type log[T entry] map[abi.Position]T

// journal says where an entry stands and how it encodes.
type journal[T entry] struct {
	channel string
	at      func(*T) abi.Position
	encode  func(dst []byte, v *T) []byte
}

// check finds entries whose position another entry holds already, in the
// channel or earlier in the update. The same entry again is no problem.
func (j journal[T]) check(held log[T], update []T, c *abi.Collector) {
	var fresh map[abi.Position]*T
	for i := range update {
		v := &update[i]
		at := j.at(v)
		other, there := held[at]
		rival := &other
		if !there {
			rival, there = fresh[at]
		}
		if !there {
			if fresh == nil {
				fresh = make(map[abi.Position]*T, len(update))
			}
			fresh[at] = v
			continue
		}
		if !bytes.Equal(j.encode(nil, v), j.encode(nil, rival)) {
			c.Add(abi.CodeDuplicateEntry, "another entry holds this position", abi.Field(j.channel), abi.Index(i), abi.Field("at"))
		}
	}
}

// merge puts entries that were checked into the channel.
func (j journal[T]) merge(into log[T], update []T) {
	for i := range update {
		into[j.at(&update[i])] = update[i]
	}
}

// sorted gives the entries in the order of node, pass and sequence.
func (j journal[T]) sorted(held log[T]) []T {
	list := make([]T, 0, len(held))
	for _, v := range held {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b T) int { return comparePositions(j.at(&a), j.at(&b)) })
	return list
}

func comparePositions(a, b abi.Position) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Pass, b.Pass), cmp.Compare(a.Sequence, b.Sequence))
}

func opinions() journal[abi.OpinionEntry] {
	return journal[abi.OpinionEntry]{"opinions", func(v *abi.OpinionEntry) abi.Position { return v.At }, codec.AppendOpinionEntry}
}

func artifacts() journal[abi.ArtifactEntry] {
	return journal[abi.ArtifactEntry]{"artifacts", func(v *abi.ArtifactEntry) abi.Position { return v.At }, codec.AppendArtifactEntry}
}

func contests() journal[abi.ContestEntry] {
	return journal[abi.ContestEntry]{"contests", func(v *abi.ContestEntry) abi.Position { return v.At }, codec.AppendContestEntry}
}

func nodeErrors() journal[abi.NodeError] {
	return journal[abi.NodeError]{"errors", func(v *abi.NodeError) abi.Position { return v.At }, codec.AppendNodeError}
}
