package memory

import "testing"

func TestTake(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name          string
		address, size uint32
		want          string
		ok            bool
	}{
		{"the whole buffer", 64, 5, "hello", true},
		{"the beginning", 64, 2, "he", true},
		{"nothing of it", 64, 0, "", true},
		{"more than was handed out", 64, 6, "", false},
		{"an address that was not", 65, 1, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var b Buffers
			b.Hold(64, []byte("hello"))
			b.Hold(128, []byte("an earlier response"))
			got, ok := b.Take(tc.address, tc.size)
			if string(got) != tc.want || ok != tc.ok {
				t.Errorf("got %q, %v", got, ok)
			}
			if len(b.held) != 0 {
				t.Errorf("%d buffers are still held", len(b.held))
			}
		})
	}
}
