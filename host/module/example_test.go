package module_test

import (
	"fmt"
	"io/fs"

	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/module"
)

// Inspect a module without running it.
func ExampleInspect() {
	modules, err := bundle.FS()
	if err != nil {
		fmt.Println(err)
		return
	}
	wasm, err := fs.ReadFile(modules, "specter.wasm")
	if err != nil {
		fmt.Println(err)
		return
	}
	info, err := module.Inspect(wasm)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.Manifest.Name, info.Binding, info.Calls)
	// Output: specter direct [node]
}

// Parse a profile. Faults come with line, column and path.
func ExampleParseProfile() {
	_, err := module.ParseProfile("mine.yaml", []byte("colour: red\n"))
	fmt.Println(err != nil)
	// Output: true
}
