package pages

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const unit = 64 << 10

// kept is an image with some pages of zeros.
func kept(tb testing.TB, p *Pager, size int) *Image {
	tb.Helper()
	content := make([]byte, size)
	random := rand.NewChaCha8([32]byte{1})
	for at := 0; at < size; at += 3 * pageBytes {
		_, _ = random.Read(content[at:min(at+pageBytes, size)])
	}
	image := must.Get(p.NewImage(content))(tb)
	tb.Cleanup(func() {
		if err := image.Close(); err != nil {
			tb.Error(err)
		}
	})
	return image
}

func pager(tb testing.TB, way Way) *Pager {
	tb.Helper()
	return must.Get(Open(way))(tb)
}

func begun(tb testing.TB, p *Pager, image *Image, limit uint64) *Memory {
	tb.Helper()
	m := must.Get(p.NewMemory(limit))(tb)
	tb.Cleanup(m.Free)
	must.Do(tb, m.Begin(image))
	return m
}

// Every way that is offered resets what was written, wherever and however much that was.
func TestResetPutsBackEveryByte(t *testing.T) {
	t.Parallel()
	for _, way := range Ways() {
		t.Run(way.String(), func(t *testing.T) {
			t.Parallel()
			p := pager(t, way)
			image := kept(t, p, 64*unit)
			want := bytes.Clone(image.Bytes())
			first, second := begun(t, p, image, 128*unit), begun(t, p, image, 128*unit)
			random := rand.New(rand.NewPCG(1, 2))
			for round := range 60 {
				b := first.Bytes()
				for range random.IntN(1 << random.IntN(12)) {
					at := random.IntN(len(b))
					b[at] ^= byte(1 + random.IntN(255))
				}
				if round%20 == 7 {
					clear(b) // all of it, more than is kept
				}
				must.Do(t, first.Reset())
				if !bytes.Equal(b, want) {
					t.Fatalf("round %d: the memory is not the image", round)
				}
				if round%10 == 0 && !bytes.Equal(second.Bytes(), want) {
					t.Fatalf("round %d: a memory shows in another", round)
				}
			}
			if !bytes.Equal(image.Bytes(), want) {
				t.Error("the image changed")
			}
		})
	}
}

func TestMemoryGrowsUpToItsLimit(t *testing.T) {
	t.Parallel()
	for _, way := range Ways() {
		p := pager(t, way)
		image := kept(t, p, 2*unit)
		m := begun(t, p, image, 4*unit)
		for _, size := range []int{unit, 2 * unit} {
			if b := m.Reallocate(uint64(size)); !bytes.Equal(b, image.Bytes()[:size]) || m.Grown() {
				t.Errorf("%s: does not begin with the image", way)
			}
		}
		b := m.Reallocate(4 * unit)
		if len(b) != 4*unit || !m.Grown() || m.Rejected() {
			t.Fatalf("%s: grew to %d bytes", way, len(b))
		}
		if !bytes.Equal(b[:2*unit], image.Bytes()) || !bytes.Equal(b[2*unit:], make([]byte, 2*unit)) {
			t.Errorf("%s: growing changed what was there, or is not zero", way)
		}
		b[4*unit-1] = 1
		if m.Reallocate(5*unit) != nil || !m.Rejected() {
			t.Errorf("%s: grew beyond the limit", way)
		}
		if m.Err() != nil {
			t.Errorf("%s: the limit is no failure of the machine: %v", way, m.Err())
		}
	}
}

// A memory that the module's start ran in becomes the first that begins with what it left.
func TestMemoryBecomesItsOwnImage(t *testing.T) {
	t.Parallel()
	for _, way := range Ways() {
		p := pager(t, way)
		m := must.Get(p.NewMemory(8 * unit))(t)
		t.Cleanup(m.Free)
		b := m.Reallocate(unit)
		b[1] = 1
		b = m.Reallocate(3 * unit)
		b[2*unit] = 2
		image := must.Get(p.NewImage(b))(t)
		t.Cleanup(func() { _ = image.Close() })
		must.Do(t, m.Begin(image))
		b[0], b[1], b[3*unit-1] = 9, 9, 9
		must.Do(t, m.Reset())
		if b[0] != 0 || b[1] != 1 || b[2*unit] != 2 || b[3*unit-1] != 0 || m.Grown() {
			t.Errorf("%s: what the instance sees is not the image", way)
		}
	}
}
