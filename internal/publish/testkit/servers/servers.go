// Package servers has ReportPortal, GitHub and Jira on loopback, for tests: the few requests that this project sends, each checked against the
// server's published OpenAPI document. README.md says where those come from.
package servers

import (
	"embed"
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/publish/testkit/openapi"
)

//go:embed *.json
var documents embed.FS

// The documents are compiled once.
var (
	gitHub       = load("github.openapi.json")
	jira         = load("jira.openapi.json")
	reportPortal = load("reportportal.openapi.json")
)

func load(name string) func(testing.TB) *openapi.Document {
	once := sync.OnceValues(func() (*openapi.Document, error) {
		data, err := documents.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return openapi.Load(data)
	})
	return func(t testing.TB) *openapi.Document {
		t.Helper()
		d, err := once()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

// Hook may answer a request in a server's place; nil has the server answer.
type Hook func(r *http.Request, path string) *openapi.Answer

type object = map[string]any

func answer(status int, body any) openapi.Answer { return openapi.Answer{Status: status, Body: body} }

func fault(status int, message string) openapi.Answer {
	return answer(status, object{"message": message})
}

// text is a value of an object as a string.
func decode(t testing.TB, body []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(body, into); err != nil {
		t.Error(err)
	}
}
