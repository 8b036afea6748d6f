package sandbox

import (
	"errors"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"
)

const testMemory = 4 << 20

// testKernel is that of an instance with a memory of some bytes.
func testKernel(t *testing.T, memoryBytes uint64) *kernel {
	t.Helper()
	pager, err := pages.Open(pages.Auto)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := pager.NewMemory(testMemory)
	if err != nil {
		t.Fatal(err)
	}
	memory.Reallocate(memoryBytes)
	k, err := newKernel(memory, testMemory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		k.close()
		memory.Free()
	})
	return k
}

func outOfMemory(err error) bool {
	var full *bindingError
	return errors.As(err, &full) && full.cause == CauseOutOfMemory
}

// Blocks of one byte are as many as the memory limit has room for, 20 bytes
// each, less what the instance's own memory takes. Freed by the next call, they are
// as many again.
func TestBlocksCountAgainstTheMemoryLimit(t *testing.T) {
	t.Parallel()
	for _, own := range []uint64{0, 1 << 20, 3 << 20} {
		k := testKernel(t, own)
		want := int(testMemory-own)/20 - 2 // the first granule and that of the request
		for call := range 3 {
			if err := k.begin([]byte("request")); err != nil {
				t.Fatal(err)
			}
			n := 0
			var err error
			for ; err == nil; n++ {
				var offset uint64
				if offset, err = k.alloc(1); err == nil && (k.length(offset) != 1 || k.load8(offset) != 0) {
					t.Fatalf("block %d has %d bytes, the first is %d", n, k.length(offset), k.load8(offset))
				} else if err == nil {
					k.store8(offset, 0xff)
				}
			}
			if !outOfMemory(err) || n-1 != want {
				t.Errorf("%d bytes of memory, call %d: %d blocks of one byte, want %d (%v)", own, call, n-1, want, err)
			}
		}
	}
}

// Memory cannot grow into what blocks hold.
func TestMemoryDoesNotGrowIntoBlocks(t *testing.T) {
	t.Parallel()
	k := testKernel(t, 1<<20)
	if _, err := k.alloc(2 << 20); err != nil {
		t.Fatal(err)
	}
	if k.memory.Reallocate(2<<20) != nil || !k.memory.Rejected() {
		t.Error("2 MiB of memory are given beside 2 MiB of blocks, of 4")
	}
	if err := k.begin(nil); err != nil {
		t.Fatal(err)
	}
	if k.memory.Reallocate(3<<20) == nil {
		t.Error("3 MiB of memory are not given after the blocks were freed")
	}
	if err := k.begin(make([]byte, 2<<20)); !outOfMemory(err) {
		t.Errorf("a request of 2 MiB beside 3 of memory: %v", err)
	}
}

func TestBlocksAreFoundByTheirOffsetOnly(t *testing.T) {
	t.Parallel()
	k := testKernel(t, 0)
	first, _ := k.store([]byte(strings.Repeat("a", 40)))
	second, _ := k.store([]byte("b"))
	if k.length(first) != 40 || k.length(second) != 1 || k.length(first+granule) != 0 || k.length(first+1) != 0 || k.length(1<<40) != 0 {
		t.Error("a length is not that of a block")
	}
	k.free(first)
	k.free(second)
	if k.length(first) != 0 || k.length(second) != 0 || k.load8(second) != 'b' {
		t.Error("a freed block has a length, or cannot be read")
	}
	if again, err := k.alloc(3); err != nil || again != second || k.load8(again) != 0 {
		t.Errorf("the bytes of the last block are not given out again: %d, %v", again, err)
	}
	for _, length := range []uint64{testMemory, 1 << 32, 0xcccc_cccc_cccc_ccc0, 1<<64 - granule, 1<<64 - 1} {
		if _, err := k.alloc(length); !outOfMemory(err) || k.size > testMemory {
			t.Errorf("a block of %d bytes: %v", length, err)
		}
	}
}

// Variables are few: each costs the host more than its name and value.
func TestVariablesAreBounded(t *testing.T) {
	t.Parallel()
	k := testKernel(t, 0)
	if err := k.restore(&variables{}); err != nil {
		t.Fatal(err)
	}
	name, _ := k.alloc(8)
	value, _ := k.store([]byte("v"))
	n := 0
	var err error
	for ; err == nil; n++ {
		k.store64(name, uint64(n))
		err = k.setVariable(name, value)
	}
	if want := maxVariableBytes / (variableBytes + 9); !outOfMemory(err) || n-1 != want || len(k.vars.byName) != want {
		t.Errorf("%d variables, want %d (%v)", n-1, want, err)
	}
	k.store64(name, 0)
	if err := k.setVariable(name, value); err != nil {
		t.Errorf("one that is set again: %v", err)
	}
	for n := range len(k.vars.byName) {
		k.store64(name, uint64(n))
		if err := k.setVariable(name, 0); err != nil {
			t.Fatal(err)
		}
	}
	if k.vars.held != 0 {
		t.Errorf("%d bytes are held for no variables", k.vars.held)
	}
}

// Instances share what a template has in variables, and do not write into it.
func TestVariablesOfATemplateDoNotChange(t *testing.T) {
	t.Parallel()
	k := testKernel(t, 0)
	name, _ := k.store([]byte("name"))
	value, _ := k.store([]byte("before"))
	if err := k.setVariable(name, value); err != nil {
		t.Fatal(err)
	}
	template := k.vars.clone()
	if err := k.restore(&template); err != nil {
		t.Fatal(err)
	}
	name, _ = k.store([]byte("name"))
	value, _ = k.store([]byte("after"))
	if err := k.setVariable(name, value); err != nil {
		t.Fatal(err)
	}
	if string(template.get([]byte("name"))) != "before" || string(k.variable(name)) != "after" {
		t.Errorf("the template has %q, the instance %q", template.get([]byte("name")), k.variable(name))
	}
}

// What a call writes below the first block is gone in the next, too.
func TestNothingBelowTheFirstBlockOutlivesACall(t *testing.T) {
	t.Parallel()
	k := testKernel(t, 0)
	for call := range 3 {
		if err := k.restore(&variables{}); err != nil {
			t.Fatal(err)
		}
		if err := k.begin([]byte("request")); err != nil {
			t.Fatal(err)
		}
		if low, high := k.load64(0), k.load64(8); low != 0 || high != 0 {
			t.Errorf("call %d finds %#x and %#x", call, low, high)
		}
		k.store64(0, 1<<63)
		k.store8(15, 0xff)
	}
}
