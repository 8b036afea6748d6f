package publish

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
)

// secret is the token of all tests: it must not be seen anywhere.
const secret = "s3cr3t-T0ken-of-a-tracker"

// output is what a command said.
type output struct {
	out, err string
	code     int
}

// all is everything, for errors of tests.
func (o output) all() string { return o.out + o.err }

// publish runs `shadowcourt publish` with the secret in a file, and looks for it in all that is said.
func runPublish(t *testing.T, args ...string) output {
	t.Helper()
	args = append([]string{"publish"}, append(args, "--token", file(t, "token", secret+"\n"))...)
	var out, err bytes.Buffer
	code := cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err}, func(s cli.Streams) []*cobra.Command {
		return []*cobra.Command{New(s, "test")}
	})
	o := output{out.String(), err.String(), code}
	if strings.Contains(o.all(), secret) || strings.Contains(o.all(), secret[:len(secret)-3]) {
		t.Errorf("the token is printed:\n%s", o.all())
	}
	return o
}

// expect fails a test where a command said or did something else.
func (o output) expect(t *testing.T, code int, wants ...string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d\n%s", o.code, code, o.all())
	}
	for _, want := range wants {
		if !strings.Contains(strings.Join(strings.Fields(o.all()), " "), want) {
			t.Errorf("%q is not in\n%s", want, o.all())
		}
	}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
