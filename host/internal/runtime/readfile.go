package runtime

import (
	"fmt"
	"io"
	"io/fs"
)

// readBounded reads a file, and refuses one of more than limit bytes without
// holding it.
func readBounded(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return ReadBounded(f, name, limit)
}

// ReadBounded reads r to its end, and refuses more than limit bytes without
// holding them. name is for the message.
func ReadBounded(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return data, nil
}
