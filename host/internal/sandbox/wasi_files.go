package sandbox

import "github.com/tetratelabs/wazero/api"

// A guest has three streams and a root directory. Nothing can be read from
// the streams; what is written to them is dropped, but for the beginning of
// standard error, which explains a failing call. The root directory is there
// so that opening a file reaches path_open and is denied by name: without it
// the guest's own library fails, and nobody learns why.
const (
	fdStdin  = 0
	fdStdout = 1
	fdStderr = 2
	fdRoot   = 3
)

const rootName = "/"

const (
	filetypeCharacterDevice = 2
	filetypeDirectory       = 3

	// maxVectors is the most buffers of one read or write, as IOV_MAX has it.
	maxVectors = 1024

	allRights = 1<<29 - 1
)

func onStream(run systemFunc) systemFunc {
	return func(s *guestState, memory api.Memory, stack []uint64) uint64 {
		if uint32(stack[0]) > fdStderr {
			return errnoBadf
		}
		return run(s, memory, stack)
	}
}

// fdWrite takes (fd, vectors, number of vectors, pointer to the count).
func fdWrite(s *guestState, memory api.Memory, stack []uint64) uint64 {
	fd := uint32(stack[0])
	if fd != fdStdout && fd != fdStderr {
		return errnoBadf
	}
	count := uint32(stack[2])
	if count > maxVectors {
		return errnoInval
	}
	vectors, ok := memory.Read(uint32(stack[1]), count*8)
	if !ok {
		return errnoFault
	}
	s.meter.charge(uint64(count) * vectorFuel)
	total := uint32(0)
	for ; len(vectors) > 0; vectors = vectors[8:] {
		b, ok := memory.Read(le32(vectors), le32(vectors[4:]))
		if !ok {
			return errnoFault
		}
		if fd == fdStderr {
			s.write(b)
		}
		total += uint32(len(b))
	}
	return written(memory.WriteUint32Le(uint32(stack[3]), total))
}

// fdRead takes (fd, vectors, number of vectors, pointer to the count): the
// end of the file, always.
func fdRead(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	if uint32(stack[0]) != fdStdin {
		return errnoBadf
	}
	return written(memory.WriteUint32Le(uint32(stack[3]), 0))
}

// fdstatGet writes 24 bytes: the file type, two bytes of flags at 2, the
// rights at 8 and the inherited rights at 16.
func fdstatGet(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	fd := uint32(stack[0])
	if fd > fdRoot {
		return errnoBadf
	}
	stat, ok := memory.Read(uint32(stack[1]), 24)
	if !ok {
		return errnoFault
	}
	clear(stat)
	if fd == fdRoot {
		stat[0] = filetypeDirectory
		putLE64(stat[16:], allRights)
	} else {
		stat[0] = filetypeCharacterDevice
	}
	putLE64(stat[8:], allRights)
	return errnoSuccess
}

// filestatGet writes 64 bytes, all zero but the file type at 16.
func filestatGet(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	stat, ok := memory.Read(uint32(stack[1]), 64)
	if !ok {
		return errnoFault
	}
	clear(stat)
	stat[16] = filetypeCharacterDevice
	return errnoSuccess
}

// prestatGet writes 8 bytes: 0 for a directory, and the length of its name.
func prestatGet(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	if uint32(stack[0]) != fdRoot {
		return errnoBadf
	}
	return written(memory.WriteUint64Le(uint32(stack[1]), uint64(len(rootName))<<32))
}

func prestatDirName(_ *guestState, memory api.Memory, stack []uint64) uint64 {
	if uint32(stack[0]) != fdRoot {
		return errnoBadf
	}
	if uint32(stack[2]) < uint32(len(rootName)) {
		return errnoInval
	}
	return written(memory.WriteString(uint32(stack[1]), rootName))
}
