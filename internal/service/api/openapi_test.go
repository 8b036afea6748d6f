package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var update = flag.Bool("update", false, "write docs/openapi.json")

const golden = "../../../docs/openapi.json"

// The document that is committed is the one that the handlers give.
func TestAccept_SV6_TheDocumentIsThatOfTheHandlers(t *testing.T) {
	t.Parallel()
	s := newService(t, func(c *api.Config) { c.Version, c.MaxUpload = "devel", 0 }) // as a command of this checkout serves it
	status, served, header := s.request(t, "", "GET", "/openapi.json", nil, nil)
	if status != 200 || header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s", status, served)
	}
	var text bytes.Buffer
	must.Do(t, json.Indent(&text, served, "", "  "))
	text.WriteByte('\n')
	if *update {
		must.Do(t, os.WriteFile(golden, text.Bytes(), 0o644))
	}
	want := must.Get(os.ReadFile(golden))(t)
	if !bytes.Equal(text.Bytes(), want) {
		t.Errorf("%s is another document: run `go test ./internal/service/api -run SV6 -update` and read the difference", golden)
	}
}
