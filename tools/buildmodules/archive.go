package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/shadowcourt/shadowcourt/host/outfile"
)

// writeArchive writes the named files of a folder as the archive that package bundle embeds, and says whether it changed.
func writeArchive(name, folder string, files []string) (size int, changed bool, err error) {
	archive, err := archiveOf(folder, files)
	if err != nil {
		return 0, false, err
	}
	// Compressing takes seconds, so an archive of the same modules stays. It is made again where its form is not today's.
	old, err := os.ReadFile(name)
	if err == nil && sameFiles(old, archive) {
		return len(old), false, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, false, err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(64<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return 0, false, err
	}
	compressed := encoder.EncodeAll(archive, nil)
	return len(compressed), true, outfile.Replace(name, compressed)
}

// archiveOf is a zip file without compression: its bytes depend on the names and contents of the files alone.
func archiveOf(folder string, files []string) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(slices.Values(files)) {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(content); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// sameFiles says whether a compressed archive decompresses to these bytes.
func sameFiles(compressed, archive []byte) bool {
	d, err := zstd.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return false
	}
	defer d.Close()
	old, err := io.ReadAll(d)
	return err == nil && bytes.Equal(old, archive)
}
