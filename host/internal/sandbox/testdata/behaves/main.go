//go:build wasip1

// The guest does what the first byte of the request tells it to. It is what a module of the Go toolchain can do wrong at run time.
package main

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"time"
	"unsafe"
)

var (
	request []byte
	answer  []byte // kept, so that the collector leaves it alone
	counter byte
	hoard   [][]byte
)

//go:wasmexport shadowcourt_alloc
func alloc(n uint32) uint32 {
	request = make([]byte, n+1)
	return uint32(uintptr(unsafe.Pointer(&request[0])))
}

//go:wasmexport shadowcourt_node
func node(ptr, n uint32) uint64 {
	request = request[:n]
	answer = behave(request[0])
	if answer == nil {
		return 0xffff_0000<<32 | 100 // outside of the memory
	}
	return uint64(uintptr(unsafe.Pointer(&answer[0])))<<32 | uint64(len(answer))
}

func behave(what byte) []byte {
	switch what {
	case 'l':
		for i := 0; ; i++ {
			counter = byte(i)
		}
	case 'b':
		for {
			block := make([]byte, 1<<20)
			block[0] = 1
			hoard = append(hoard, block)
		}
	case 'd':
		return []byte{recurse(1)}
	case 'h':
		return make([]byte, 2<<20)
	case 'o':
		return nil
	case 'p':
		panic("the guest panics")
	case 'x':
		os.Exit(3)
	case 'c':
		counter++
		return []byte{counter}
	case 't':
		return readClock()
	case 'r':
		return readRandom()
	case 'f':
		_, err := os.ReadFile("/etc/passwd")
		return []byte(err.Error())
	case 's':
		start := time.Now()
		time.Sleep(time.Hour)
		return binary.LittleEndian.AppendUint64(nil, uint64(time.Since(start)))
	case 'v':
		return append([]byte("environment:"), byte('0'+len(os.Environ())), byte('0'+len(os.Args)))
	}
	return request
}

func recurse(n int) byte {
	var pad [512]byte
	pad[n%512] = byte(n)
	return recurse(n+1) + pad[(n+1)%512]
}

func readClock() []byte {
	var b []byte
	for range 5 {
		b = binary.LittleEndian.AppendUint64(b, uint64(time.Now().UnixNano()))
	}
	return b
}

func readRandom() []byte {
	b := make([]byte, 16)
	_, _ = crand.Read(b)
	b = binary.LittleEndian.AppendUint64(b, rand.Uint64())
	m := map[int]bool{1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true}
	for k := range m {
		b = append(b, byte(k))
	}
	return b
}

func main() {}
