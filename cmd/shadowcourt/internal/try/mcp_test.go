package try

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestRunSaysWhatItCannotOpen(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "notes.txt")
	must.Do(t, os.WriteFile(text, []byte("no casebook, but a text that is long enough to have a header"), 0o600))
	none := &mcpOptions{casebook: filepath.Join(t.TempDir(), "new.db")}
	none.Pipeline = filepath.Join(t.TempDir(), "none.yaml")
	for want, o := range map[string]*mcpOptions{"--casebook": {casebook: text}, "none.yaml": none} {
		err := o.run(t.Context(), cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}
