package memory

// plain and pointers are here since what goes nowhere is not allocated.
var (
	plain    []byte
	pointers []*byte
)

// maxReady is the largest size of values that spans are made ready for, in bytes. Larger ones are few.
const maxReady = 4 << 10

// Go's runtime allocates values of one size class from a span of its own, which it takes from the heap when it first needs it. In a call
// that costs more than fifty values from a span that is there, and it runs code that the processor has not seen for long. What the memory
// is before the first call it is for all calls: here each span is taken once. The capacity of what append allocates is the size class, so
// that one value of each is made.
func init() {
	zeros, nils := make([]byte, maxReady), make([]*byte, maxReady/8)
	for n := 1; n <= len(zeros); n = cap(plain) + 1 {
		plain = append([]byte(nil), zeros[:n]...)
	}
	for n := 1; n <= len(nils); n = cap(pointers) + 1 {
		pointers = append([]*byte(nil), nils[:n]...)
	}
	plain, pointers = nil, nil
}
