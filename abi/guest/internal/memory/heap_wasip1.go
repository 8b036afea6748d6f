package memory

// plain and pointers are here since what goes nowhere is not allocated.
var (
	plain    []byte
	pointers []*byte
)

// maxReady is the largest size of values that spans are made ready for, in
// bytes. Larger ones are few.
const maxReady = 4 << 10

// Go's runtime allocates values of one size from a span of its own, which it
// takes from the heap when it first needs it. In a call that costs more than
// fifty values from a span that is there, and it runs code that the processor
// has not seen for long. What the memory is before the first call it is for all
// calls: here each span is taken once.
func init() {
	for size := 16; size <= maxReady; size += 16 {
		plain, pointers = make([]byte, size), make([]*byte, size/8)
	}
	plain, pointers = nil, nil
}
