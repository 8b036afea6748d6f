package study

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// SaveLines writes compressed JSON lines in place of what the file was.
func SaveLines(name string, write func(*json.Encoder) error) error {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	lines.SetEscapeHTML(false)
	if err := write(lines); err != nil {
		return err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return disk.Replace(name, encoder.EncodeAll(text.Bytes(), nil))
}

// mostBytes is the most that a file of lines has, decompressed.
const mostBytes = 64 << 20

// LoadLines reads what SaveLines wrote. An unknown field is an error of the decoder.
func LoadLines(name string, read func(*json.Decoder) error) error {
	packed, err := os.Open(name)
	if err != nil {
		return err
	}
	defer packed.Close()
	decoder, err := zstd.NewReader(packed, zstd.WithDecoderMaxMemory(mostBytes))
	if err != nil {
		return err
	}
	defer decoder.Close()
	lines := json.NewDecoder(bufio.NewReader(io.LimitReader(decoder, mostBytes)))
	lines.DisallowUnknownFields()
	return read(lines)
}

// Rest decodes what is left.
func Rest[T any](lines *json.Decoder) (list []T, err error) {
	for {
		var one T
		switch err := lines.Decode(&one); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		list = append(list, one)
	}
}
