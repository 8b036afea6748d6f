package docket

import (
	"strconv"
	"testing"
	"unsafe"
)

func TestPlacesFindEveryIDAgain(t *testing.T) {
	t.Parallel()
	p := newPlaces()
	const ids = 200_000
	for i := range ids {
		at := place{"file" + strconv.Itoa(i*3/ids), i + 1}
		if first, twice := p.register("id-"+strconv.Itoa(i), at); twice {
			t.Fatalf("id %d was at %v", i, first)
		}
	}
	for i := range ids {
		want := place{"file" + strconv.Itoa(i*3/ids), i + 1}
		if first, twice := p.register("id-"+strconv.Itoa(i), place{"other", 7}); !twice || first != want {
			t.Fatalf("id %d: %v, %t", i, first, twice)
		}
	}
	bytes := 0
	for i := range p.shards {
		bytes += len(p.shards[i].slots) * int(unsafe.Sizeof(slot{}))
	}
	if most := 40; bytes > most*ids {
		t.Errorf("%d bytes for an id, more than %d", bytes/ids, most)
	}
}
