package guest_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// What a module in Go may not link, since it would cost more than all of its
// judgement: fmt, reflection, the operating system, text encodings.
func TestModulesLinkNothingLarge(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", "../../plugins/challenger", "../../plugins/abyss", "../../plugins/bulwark", "../../plugins/specter", "../../plugins/clerk",
		"../../plugins/herald", "../../plugins/sentinel", "../../plugins/seeker", "../../plugins/weaver",
		"../../plugins/reader", "../../plugins/prosecutor", "../../plugins/advocate", "../../plugins/magistrate", "./...")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, "github.com/shadowcourt/shadowcourt/plugins/clerk") {
		t.Fatal("the list has no clerk")
	}
	for _, large := range []string{"fmt", "reflect", "os", "sort", "time", "regexp", "encoding/json", "encoding/binary", "log"} {
		if slices.Contains(linked, large) {
			t.Errorf("%s is linked", large)
		}
	}
}
