// Package schema holds a JSON Schema (draft 2020-12) for every type of the contract. A schema describes the JSON form of a message, in
// which the integers and floats of msgpack cannot be told apart. It is necessary, not sufficient: rules across fields and across artifacts
// stand in SPEC.md.
//
// The schemas are generated from package abi. All functions may be called concurrently.
package schema

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed json
var files embed.FS

// Names gives the wire names of all types, such as "node_request", sorted.
func Names() []string {
	entries, err := fs.ReadDir(files, "json")
	if err != nil {
		return nil // the folder is embedded
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".json")
	}
	return names
}

// Get gives the schema of a type by its wire name, and whether there is one.
// It is indented and ends in a newline; the caller owns the bytes.
func Get(name string) ([]byte, bool) {
	content, err := files.ReadFile(path.Join("json", name+".json"))
	return content, err == nil
}
