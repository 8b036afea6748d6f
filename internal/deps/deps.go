// Package deps pins the modules while the rooms that use them are being built.
package deps

import (
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/jedib0t/go-pretty/v6/table"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "github.com/tetratelabs/wazero"
	_ "github.com/tetratelabs/wazero/experimental"
	_ "github.com/vmihailenco/msgpack/v5"
	_ "golang.org/x/term"
	_ "golang.org/x/tools/go/packages"
	_ "gopkg.in/yaml.v3"
	_ "pgregory.net/rapid"
)
