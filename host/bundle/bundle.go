// Package bundle holds the WebAssembly modules that are built into the program.
//
// The modules are not committed. `make plugins` builds them from plugins/ and writes the archive in dist, and the next build of
// the program embeds it. A tagged version of this Go module contains the archive, so that `go install` and `go get` need no make.
package bundle

import (
	"archive/zip"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"weak"

	"github.com/klauspost/compress/zstd"
)

// Archive is the name of the archive in the folder dist: a zip file without compression, compressed as a whole with
// Zstandard. The modules share most of their code, so one stream is a third of the size of fourteen.
const Archive = "modules.zip.zst"

//go:embed all:dist
var dist embed.FS

// ErrNotBuilt is returned by a program that was built before its modules.
var ErrNotBuilt = errors.New("the modules are not built into this program: run `make plugins` and build it again")

// opened is the archive in memory, for as long as somebody uses it: it is 40 MB, and decompressed in 50 ms.
var opened struct {
	sync.Mutex
	archive weak.Pointer[zip.Reader]
}

// FS returns a file system with NAME.wasm for every embedded module. The error is ErrNotBuilt when there are none.
// Safe for concurrent use.
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

// Open decompresses an archive of modules.
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
