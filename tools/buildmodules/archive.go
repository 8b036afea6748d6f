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

	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// writeArchive writes the named files of a folder as the archive that package bundle embeds, and says whether it changed.
func writeArchive(name, folder string, files []string) (size int, changed bool, err error) {
	modules, err := archiveOf(folder, files, func(wasm []byte) ([]byte, error) { return wasm, nil })
	if err != nil {
		return 0, false, err
	}
	heads, err := archiveOf(folder, files, module.Head)
	if err != nil {
		return 0, false, err
	}
	archive, err := compressed(heads)
	if err != nil {
		return 0, false, err
	}
	archive = bundle.AppendHeads(nil, archive)
	// Compressing takes seconds, so an archive of the same modules stays. It is made again where its form is not today's.
	old, err := os.ReadFile(name)
	if err == nil && bytes.HasPrefix(old, archive) && sameFiles(old, modules) {
		return len(old), false, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, false, err
	}
	rest, err := compressed(modules)
	if err != nil {
		return 0, false, err
	}
	archive = append(archive, rest...)
	return len(archive), true, disk.Replace(name, archive)
}

func compressed(data []byte) ([]byte, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(64<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return encoder.EncodeAll(data, nil), nil
}

// archiveOf is a zip file without compression of what is to be kept of each file. Its bytes depend on the names and contents of the
// files alone.
func archiveOf(folder string, files []string, keep func([]byte) ([]byte, error)) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(slices.Values(files)) {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err == nil {
			content, err = keep(content)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
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
