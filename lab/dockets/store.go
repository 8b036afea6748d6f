package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// store keeps what was run in files, by what it was, so that nothing is run twice.
type store struct {
	dir    string
	cached bool // give what is there, run nothing
}

// formatVersion changes when what is run for one fault changes: what was kept before is then run again.
const formatVersion = "2"

// recall gives what is kept under the key, or makes it and keeps it. The key is any value that JSON can write. Where
// nothing is to be run and nothing is kept, ok is false.
func recall[K, V any](s *store, name string, key K, run func() (V, error)) (value V, ok bool, err error) {
	id, err := json.Marshal(key)
	if err != nil {
		return value, false, err
	}
	sum := sha256.Sum256(append([]byte(formatVersion+name), id...))
	path := filepath.Join(s.dir, strings.ReplaceAll(name, "/", "_"), hex.EncodeToString(sum[:8])+".json")
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &value) == nil {
		return value, true, nil
	}
	if s.cached {
		return value, false, nil
	}
	if value, err = run(); err != nil {
		return value, false, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return value, false, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return value, false, err
	}
	// A cut-off leaves no half file.
	if err := os.WriteFile(path+".new", data, 0o644); err != nil {
		return value, false, err
	}
	return value, true, os.Rename(path+".new", path)
}
