package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/webhook"
)

const (
	hookSecret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	hookPath   = "T0HIDDEN/B0HIDDEN"
)

// hooked starts a process with a webhook at an address, whose path is a secret.
func hooked(t *testing.T, database, address string) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hooks.yaml")
	must(t, os.WriteFile(file, []byte(`hooks:
  - {name: chat, url: env:ADDRESS, events: [docket.finished], secret: env:SECRET, allow_private: true}
`), 0o600))
	hooks, err := webhook.Read(file, func(name string) string {
		return map[string]string{"ADDRESS": address + "/services/" + hookPath, "SECRET": "whsec_" + hookSecret}[name]
	})
	must(t, err)
	return startWith(t, "127.0.0.1:0", database, func(c *service.Config) {
		c.Webhooks, c.PublicURL = hooks, &url.URL{Scheme: "https", Host: "court.example"}
	})
}

// untilSays asks until an answer has a text.
func (p *process) untilSays(t *testing.T, path, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		status, body := p.ask(t, http.MethodGet, path, "")
		if status == http.StatusOK && strings.Contains(body, text) {
			return body
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s does not say %q: %d %.500s", path, text, status, body)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// A dead letter is in the API and on the page, and is redelivered from both, which the audit log has. The address and the secret are nowhere.
func TestAccept_IG7_DeadLettersAreListedAndSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	var well atomic.Bool
	var got atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var message struct {
			Data struct {
				URL    string           `json:"url"`
				Docket store.HookDocket `json:"docket"`
			} `json:"data"`
		}
		if err := json.Unmarshal(text, &message); err != nil || message.Data.Docket.Name != "build" || message.Data.URL != "https://court.example/dockets/1" {
			t.Errorf("%s: %v", text, err)
		}
		got.Add(1)
		if !well.Load() {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "<b>no</b> %s whsec_%s", r.URL.Path, hookSecret)
		}
	}))
	t.Cleanup(receiver.Close)
	database := filepath.Join(t.TempDir(), "test.db")
	p := hooked(t, database, receiver.URL)
	if status, body := p.ask(t, http.MethodPost, "/api/v1/dockets?name=build&repository=shop", docketOf(3)); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	var shown strings.Builder
	list := p.untilSays(t, "/api/v1/webhooks/deliveries?state=dead&webhook=chat", `"state":"dead"`)
	var page struct {
		Deliveries []store.Delivery `json:"deliveries"`
	}
	must(t, json.Unmarshal([]byte(list), &page))
	d := page.Deliveries[0]
	if len(page.Deliveries) != 1 || d.Status != http.StatusForbidden || d.Attempt != 1 || d.Event != store.DocketFinished || !strings.Contains(d.Answer, "no") {
		t.Errorf("%+v", d)
	}
	shown.WriteString(list)
	hooksList := p.untilSays(t, "/api/v1/webhooks", `"dead":1`)
	html := p.untilSays(t, "/settings/webhooks", "Redeliver")
	if strings.Contains(html, "<b>no</b>") || !strings.Contains(html, "chat") || !strings.Contains(p.untilSays(t, "/settings", "Webhooks"), `href="/settings/webhooks"`) {
		t.Errorf("%s", html)
	}
	metrics := p.untilSays(t, "/metrics", `shadowcourt_webhook_attempts_total{outcome="dead",webhook="chat"} 1`)
	if !strings.Contains(metrics, `shadowcourt_webhook_deliveries{state="dead",webhook="chat"} 1`) {
		t.Error("the metrics lack the dead letter")
	}
	shown.WriteString(hooksList + html + metrics)
	well.Store(true)
	again := fmt.Sprintf("/api/v1/webhooks/deliveries/%d/redeliver", d.ID)
	if status, body := p.ask(t, http.MethodPost, again, ""); status != http.StatusAccepted {
		t.Errorf("%d %s", status, body)
	}
	shown.WriteString(p.untilSays(t, "/api/v1/webhooks/deliveries?state=delivered", d.Message))
	form := strings.Replace(again, "/api/v1/webhooks", "/settings/webhooks", 1)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+form, http.NoBody)
	must(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := p.do(r)
	must(t, err)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK { // of the page that it leads to
		t.Errorf("the form gives %s", response.Status)
	}
	p.untilSays(t, "/metrics", `shadowcourt_webhook_attempts_total{outcome="delivered",webhook="chat"} 2`)
	log := p.untilSays(t, "/api/v1/audit-log", "webhook.redeliver")
	if strings.Count(log, "webhook.redeliver") != 2 || !strings.Contains(log, fmt.Sprintf(`"delivery %d"`, d.ID)) || got.Load() != 3 {
		t.Errorf("%d messages; %s", got.Load(), log)
	}
	if status, _ := p.ask(t, http.MethodPost, "/api/v1/webhooks/deliveries/99/redeliver", ""); status != http.StatusNotFound {
		t.Errorf("one that is not there: %d", status)
	}
	p.stop()
	shown.WriteString(log + p.logs.String())
	for _, end := range []string{"", "-wal"} {
		content, err := os.ReadFile(database + end)
		if err != nil && end == "" {
			t.Fatal(err)
		}
		shown.Write(content)
	}
	for _, secret := range []string{hookSecret, "T0HIDDEN", "B0HIDDEN"} {
		if i := strings.Index(shown.String(), secret); i >= 0 {
			t.Errorf("%q is in what is shown or kept: %q", secret, shown.String()[max(0, i-100):min(shown.Len(), i+100)])
		}
	}
}

// Whoever is limited to repositories, or has no scope to operate, sees no webhooks.
func TestAccept_IG7_WebhooksAreForOperators(t *testing.T) {
	t.Parallel()
	p := hooked(t, filepath.Join(t.TempDir(), "test.db"), "http://127.0.0.1:1")
	operator := p.token
	for _, scope := range []string{`{"name":"a","scopes":["submit","review"]}`, `{"name":"a","scopes":["operate"],"repositories":["shop"]}`} {
		p.token = operator
		_, body := p.ask(t, http.MethodPost, "/api/v1/tokens", scope)
		var made struct {
			Secret string `json:"secret"`
		}
		must(t, json.Unmarshal([]byte(body), &made))
		p.token = made.Secret
		for _, path := range []string{"/api/v1/webhooks", "/api/v1/webhooks/deliveries", "/settings/webhooks"} {
			if status, body := p.ask(t, http.MethodGet, path, ""); status != http.StatusForbidden {
				t.Errorf("%s: %s: %d %.100s", scope, path, status, body)
			}
		}
		for _, path := range []string{"/api/v1/webhooks/deliveries/1/redeliver", "/settings/webhooks/deliveries/1/redeliver"} {
			if status, body := p.ask(t, http.MethodPost, path, ""); status != http.StatusForbidden {
				t.Errorf("%s: %s: %d %.100s", scope, path, status, body)
			}
		}
		if _, body := p.ask(t, http.MethodGet, "/settings", ""); strings.Contains(body, "/settings/webhooks") {
			t.Error("the settings lead to webhooks")
		}
	}
}
