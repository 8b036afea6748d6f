package profile_test

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/profile"
)

// Parse a profile. Faults come with line, column and path.
func ExampleParse() {
	_, err := profile.Parse("mine.yaml", []byte("colour: red\n"))
	fmt.Println(err != nil)
	// Output: true
}
