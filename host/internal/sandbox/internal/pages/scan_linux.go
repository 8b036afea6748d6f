package pages

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A private mapping of a file shows the file's own pages until they are
// written, and then pages that belong to nobody else, which are in memory or
// swapped out. Those, and no others, were written.

// scanArg is struct pm_scan_arg, and region struct page_region, of the
// kernel's <linux/fs.h>.
type scanArg struct {
	size, flags                uint64
	start, end, walkEnd        uint64
	vec, vecLen, maxPages      uint64
	inverted, mask, anyOf, out uint64
}

type region struct{ start, end, categories uint64 }

const (
	pagemapScan = 3<<30 | uint(unsafe.Sizeof(scanArg{}))<<16 | 'f'<<8 | 16 // _IOWR('f', 16, struct pm_scan_arg)

	pageIsFile    = 1 << 2
	pageIsPresent = 1 << 3
	pageIsSwapped = 1 << 4
)

// scan has something done with the spans that were written, until there are too many.
func (k *kernel) scan(s *scratch, m *Memory, do use) error {
	base := uint64(uintptr(unsafe.Pointer(&m.buf[0])))
	s.arg = scanArg{
		size:  uint64(unsafe.Sizeof(s.arg)),
		start: base, end: base + uint64(len(m.buf)),
		vec: uint64(uintptr(unsafe.Pointer(&s.regions[0]))), vecLen: uint64(len(s.regions)),
		inverted: pageIsFile, mask: pageIsFile, anyOf: pageIsPresent | pageIsSwapped, out: pageIsPresent,
	}
	for s.arg.start < s.arg.end && !s.full() {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, k.fd, uintptr(pagemapScan), uintptr(unsafe.Pointer(&s.arg)))
		runtime.KeepAlive(s)
		if errno != 0 {
			return os.NewSyscallError("PAGEMAP_SCAN", errno)
		}
		if n > uintptr(len(s.regions)) || s.arg.walkEnd <= s.arg.start || s.arg.walkEnd > s.arg.end {
			return fmt.Errorf("PAGEMAP_SCAN gave %d regions up to %#x", n, s.arg.walkEnd)
		}
		for _, r := range s.regions[:n] {
			do(s, m, r.start-base, r.end-base)
		}
		s.arg.start = s.arg.walkEnd
	}
	return nil
}
