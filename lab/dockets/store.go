package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// formatVersion changes when what is run for one fault changes: what was kept before is then run again.
const formatVersion = "2"

// recall gives what a folder keeps under the key, or makes it and keeps it, so that nothing is run twice. The key is any value that JSON can
// write.
func recall[K, V any](dir, name string, key K, run func() (V, error)) (value V, err error) {
	id, err := json.Marshal(key)
	if err != nil {
		return value, err
	}
	sum := sha256.Sum256(append([]byte(formatVersion+name), id...))
	path := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"), hex.EncodeToString(sum[:8])+".json")
	if data, err := os.ReadFile(path); err == nil && json.Unmarshal(data, &value) == nil {
		return value, nil
	}
	if value, err = run(); err != nil {
		return value, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return value, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return value, err
	}
	return value, disk.Replace(path, data)
}
