package profile

import (
	"fmt"
	"os"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/yamlpack"
)

// LoadProfile reads a profile from a YAML file. Its fields are those of
// abi.Profile by their wire names. All faults come at once, each with file,
// line, column and path.
func LoadProfile(path string) (*abi.Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the profile: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := ReadBounded(f, path, yamlpack.MaxFileBytes)
	if err != nil {
		return nil, err
	}
	return ParseProfile(path, data)
}

// ParseProfile is LoadProfile for bytes; file is the name for messages.
func ParseProfile(file string, data []byte) (*abi.Profile, error) {
	var p abi.Profile
	err := yamlpack.Decode(file, data, func(message []byte) (err error) {
		p, err = codec.DecodeProfile(message, len(message))
		return err
	})
	if err != nil {
		return nil, err
	}
	return &p, nil
}
