package conformance_test

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/conformance"
)

// A program holds a module to the contract, and tells of what fails. In a test
// of the module, conformance.Check(t, wasm) does the same.
func ExampleRun() {
	wasm := []byte("#!/bin/sh\n") // os.ReadFile("judge.wasm")
	report, err := conformance.Run(context.Background(), wasm, conformance.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, check := range report.Failed() {
		fmt.Println(check.Clause, check.Title)
		for _, failure := range check.Failures {
			fmt.Println(" ", failure.Detail)
		}
	}
	// Output:
	// §1.1 is a valid WebAssembly module
	//   offset 0: not a WebAssembly file: it does not begin with \0asm [not_wasm]
}
