// Package shadowcourt holds the sources of the guest SDKs, which `shadowcourt plugin new` copies into the folders that it makes.
//
// Programs that try cases import package host; modules in Go import the packages of abi/guest.
package shadowcourt

import "embed"

// SDKs holds the guest SDKs of all languages by their paths in the repository:
// that for Go in abi, the others in sdk. There are tests among the files.
//
//go:embed abi/*.go abi/codec/*.go abi/guest
//go:embed sdk/rust/Cargo.toml sdk/rust/src
//go:embed sdk/c/*.h sdk/c/*.c sdk/c/*.mk
//go:embed sdk/typescript/assembly sdk/typescript/manifest.mjs sdk/typescript/package.json
var SDKs embed.FS
