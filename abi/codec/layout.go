package codec

import (
	"unsafe"

	"github.com/shadowcourt/shadowcourt/abi"
)

// layout says how a struct stands in a message and in memory.
type layout struct {
	slots []slot
	size  uintptr
	// smallest is the least number of bytes that a valid message takes.
	smallest int
	// one and list allocate, keep in the field at p, and give where the first value is.
	one  func(p unsafe.Pointer) unsafe.Pointer
	list func(p unsafe.Pointer, n int) unsafe.Pointer
	// rules of the type, nil without any.
	rules func(v unsafe.Pointer, c *abi.Collector)
}

// slot is a field.
type slot struct {
	// key holds the bytes of the key, its header included, eight to a word and the first byte lowest. size is how many there are; the last
	// word has been shifted up until its last byte is the highest.
	key      [4]uint64
	size     int
	shift    uint8
	kind     slotKind
	optional bool
	nonempty bool
	offset   uintptr
	layout   *layout  // of structs
	values   []string // of enumerations
	// bounds of numbers
	least, most float64
	low, high   int64
	count       count // of lists
}

type slotKind uint8

const (
	slotText slotKind = iota
	slotEnum
	slotBool
	slotInt
	slotInt64
	slotFloat
	slotStruct
	slotPointer // to a struct
	slotList    // of structs
	slotTexts   // list of strings
	slotEnums
	slotInts
	slotTextPointer
	slotFloatPointer
	slotBoolPointer
)

func one[T any](p unsafe.Pointer) unsafe.Pointer {
	v := new(T)
	*(**T)(p) = v
	return unsafe.Pointer(v)
}

func listOf[T any](p unsafe.Pointer, n int) unsafe.Pointer {
	v := make([]T, n)
	*(*[]T)(p) = v
	return unsafe.Pointer(&v[0])
}
