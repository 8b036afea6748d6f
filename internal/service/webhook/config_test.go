package webhook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/webhook"
)

const hiddenPart = "T0SECRETPART"

func environment(name string) string {
	return map[string]string{"SECRET": oneSecret, "OLD": anotherSecret, "URL": "https://chat.example/services/" + hiddenPart, "BAD": hiddenPart, "BADURL": "ftp://" + hiddenPart}[name]
}

// hook reads a file of one webhook.
func hook(t testing.TB, lines string) *webhook.Hook {
	t.Helper()
	hooks, err := webhook.Parse([]byte("hooks:\n  - name: one\n    events: [docket.finished, failure.yours, failure.open, verdict.corrected, generation.activated]\n    "+
		strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n    ")+"\n"), environment)
	must(t, err)
	return hooks[0]
}

// All faults are reported at once, and none quotes a secret or an address.
func TestAccept_IG7_TheFileIsReadStrictly(t *testing.T) {
	t.Parallel()
	_, err := webhook.Parse([]byte(`
hooks:
  - name: Upper Case
    url: https://user:`+hiddenPart+`@chat.example/
    events: []
    secret: `+oneSecret+`
  - name: two
    url: http://chat.example/`+hiddenPart+`
    events: [nothing]
    secret: env:BAD
    old_secret: env:UNSET
    repositories: ["[", ""]
    format: xml
    retries: 3
  - name: two
    url: env:BADURL
    events: [docket.finished]
    format: slack
    template: a.tmpl
  - name: four
    url: https://169.254.169.254/`+hiddenPart+`
    events: [docket.finished]
  - name: five
    url: https://127.0.0.1/
    events: [docket.finished]
    secret: file:testdata/none
  - name: six
    url: https://chat.example/
    events: [docket.finished]
    format: slack
    old_secret: env:OLD
    allow_private: maybe
`), environment)
	if err == nil {
		t.Fatal("it was read")
	}
	for _, want := range []string{
		"hooks[0].name: use 1 to 40", "hooks[0].url: is no address", "hooks[0].events: is empty", "hooks[0].secret: name a variable", "hooks[1].url: must begin with https",
		"hooks[1].events[0]: is no event", "hooks[1].secret: is no secret", "hooks[1].old_secret: the variable is not set", "hooks[1].repositories[0]: is no pattern",
		"hooks[1].repositories[1]: is no pattern", "hooks[1].format: was removed: messages are JSON", "hooks[1].retries: unknown key", "hooks[2].name: is the name of another", "hooks[2].url: is no address",
		"hooks[2].template: unknown key", "hooks[3].url: is an address that", "hooks[3].secret: is missing", "hooks[4].url: is an address that", "hooks[4].secret: there is no such file",
		"hooks[5].format: was removed", "hooks[5].secret: is missing", "hooks[5].allow_private: ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q", want)
		}
	}
	for _, secret := range []string{hiddenPart, strings.TrimPrefix(oneSecret, "whsec_"), strings.TrimPrefix(anotherSecret, "whsec_")} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error has %q", secret)
		}
	}
	if t.Failed() {
		t.Log(err)
	}
}

func TestAccept_IG7_SecretsAreInVariablesAndFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"secret": oneSecret + "\n", "hooks.yaml": "hooks:\n  - name: one\n    url: env:URL\n    events: [docket.finished]\n    secret: file:secret\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	hooks, err := webhook.Read(filepath.Join(dir, "hooks.yaml"), environment)
	must(t, err)
	if s := hooks[0].Subscription(); len(hooks) != 1 || s.Name != "one" || len(s.Events) != 1 || s.Events[0] != store.DocketFinished {
		t.Errorf("%+v", hooks[0].Subscription())
	}
	if hooks, err := webhook.Parse([]byte("hooks: []\n"), environment); err != nil || hooks == nil || len(hooks) != 0 {
		t.Errorf("no webhooks: %v, %v", hooks, err)
	}
	if _, err := webhook.Read(filepath.Join(dir, "nowhere.yaml"), environment); err == nil {
		t.Error("a file that is not there was read")
	}
}

// FuzzParse reads files of webhooks: without a panic, and without a secret in an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte("hooks:\n  - name: one\n    url: env:URL\n    events: [docket.finished]\n    secret: env:SECRET\n"))
	f.Add([]byte("hooks: [{name: a, url: 'http://[::1]:1/%zz', repositories: ['[']}]"))
	f.Add([]byte("hooks: []"))
	f.Fuzz(func(t *testing.T, data []byte) {
		hooks, err := webhook.Parse(data, environment)
		if (err == nil) != (hooks != nil) {
			t.Fatalf("%v, %v", hooks, err)
		}
		if err != nil && strings.Contains(err.Error(), strings.TrimPrefix(oneSecret, "whsec_")) && !strings.Contains(string(data), strings.TrimPrefix(oneSecret, "whsec_")) {
			t.Fatal(err)
		}
	})
}

// The file of the documentation is read as it stands there.
func TestAccept_IG7_TheDocumentedFileIsRead(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/service.md")
	must(t, err)
	found := regexp.MustCompile("(?s)```yaml\n(hooks:.*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatal("the page has no file")
	}
	text := strings.NewReplacer("env:TEAM_URL", "env:URL", "env:TEAM_SECRET", "env:SECRET", "file:/run/secrets/court", "env:SECRET").Replace(string(found[1]))
	hooks, err := webhook.Parse([]byte(text), environment)
	if err != nil || len(hooks) != 2 || hooks[0].Name != "team" || len(hooks[1].Events) != 3 {
		t.Errorf("%v, %v", hooks, err)
	}
}
