// Package bundle holds the WebAssembly modules that are built into the program.
//
// The modules are not committed. `make plugins` builds them from plugins/ and writes the archive in dist, and the next build of
// the program embeds it. A tagged version of this Go module contains the archive, so that `go install` and `go get` need no make.
package bundle

import (
	"archive/zip"
	"bytes"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"weak"

	"github.com/klauspost/compress/zstd"
)

// Archive is the name of the archive in the folder dist: a zip file without compression, compressed as a whole with Zstandard. The modules
// share most of their code, so one stream is a third of the size of fourteen. A skippable frame at its beginning holds the heads of the
// modules in the same form, so that a program that has compiled the modules before need not decompress them.
const Archive = "modules.zip.zst"

//go:embed all:dist
var dist embed.FS

// ErrNotBuilt is returned by a program that was built before its modules.
var ErrNotBuilt = errors.New("the modules are not built into this program: run `make plugins` and build it again")

// opened is the archive in memory, for as long as somebody uses it: it is 58 MB, and decompressed in 60 to 90 ms.
var opened struct {
	sync.Mutex
	archive weak.Pointer[zip.Reader]
}

// FS returns a file system with NAME.wasm for every embedded module. The error is ErrNotBuilt when there are none. Safe for concurrent use.
func FS() (fs.FS, error) {
	opened.Lock()
	defer opened.Unlock()
	if archive := opened.archive.Value(); archive != nil {
		return archive, nil
	}
	compressed, err := dist.ReadFile("dist/" + Archive)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotBuilt
	}
	if err != nil {
		return nil, err
	}
	archive, err := Open(compressed)
	if err != nil {
		return nil, fmt.Errorf("embedded modules: %w", err)
	}
	opened.archive = weak.Make(archive)
	return archive, nil
}

// skippable begins a frame that Zstandard's decoders skip. The length of its content follows.
const skippable uint32 = 0x184D2A50

// skippableHeader is the length of both.
const skippableHeader = 8

// Heads returns the heads of the embedded modules by name, without ".wasm". The error is ErrNotBuilt when there are none.
func Heads() (map[string][]byte, error) {
	archive, err := dist.Open("dist/" + Archive)
	if err != nil {
		return nil, ErrNotBuilt
	}
	defer func() { _ = archive.Close() }()
	var header [skippableHeader]byte
	if _, err := io.ReadFull(archive, header[:]); err != nil || binary.LittleEndian.Uint32(header[:]) != skippable {
		return nil, ErrNotBuilt
	}
	frame, err := io.ReadAll(io.LimitReader(archive, int64(binary.LittleEndian.Uint32(header[4:]))))
	if err != nil {
		return nil, err
	}
	heads, err := Open(frame)
	if err != nil {
		return nil, fmt.Errorf("embedded modules: %w", err)
	}
	byName := make(map[string][]byte, len(heads.File))
	for _, f := range heads.File {
		if byName[strings.TrimSuffix(f.Name, ".wasm")], err = fs.ReadFile(heads, f.Name); err != nil {
			return nil, fmt.Errorf("embedded modules: %w", err)
		}
	}
	return byName, nil
}

// AppendHeads appends a frame with compressed heads, which the modules follow.
func AppendHeads(out, heads []byte) []byte {
	out = binary.LittleEndian.AppendUint32(out, skippable)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(heads))), heads...)
}

// Open decompresses an archive of modules, or of heads.
func Open(compressed []byte) (*zip.Reader, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	archive, err := decoder.DecodeAll(compressed, nil)
	if err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
}
