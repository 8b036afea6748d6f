//go:build client

package work_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// The library of the specification's authors for Python, from PyPI, verifies messages, and rejects those that were altered.
func TestAccept_IG7_TheAuthorsLibraryVerifiesMessages(t *testing.T) {
	t.Parallel()
	env := filepath.Join(t.TempDir(), "env")
	for _, args := range [][]string{{"python3", "-m", "venv", env}, {filepath.Join(env, "bin", "pip"), "install", "--quiet", "standardwebhooks==1.0.0"}} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", args, err, out)
		}
	}
	now := time.Now()
	text := message(t, docketEvent(2, 1))
	sign := func(at time.Time, secrets ...string) string {
		return must.Get(work.Signature(secrets, "msg_1", at, text))(t)
	}
	both, old := sign(now, anotherSecret, oneSecret), sign(now.Add(-time.Hour), oneSecret)
	const script = `
import json, sys
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
for secret, body, at, signature in json.load(sys.stdin):
    try:
        print(Webhook(secret).verify(body, {"webhook-id": "msg_1", "webhook-timestamp": str(at), "webhook-signature": signature})["type"])
    except WebhookVerificationError as e:
        print("rejected:", e)
`
	sent, err := json.Marshal([][]any{
		{oneSecret, string(text), now.Unix(), both}, {anotherSecret, string(text), now.Unix(), both}, {oneSecret, string(text) + " ", now.Unix(), both},
		{oneSecret, string(text), now.Unix() + 1, both}, {oneSecret, string(text), now.Add(-time.Hour).Unix(), old},
	})
	must.Do(t, err)
	c := exec.CommandContext(t.Context(), filepath.Join(env, "bin", "python3"), "-c", script)
	c.Stdin, c.Stderr = strings.NewReader(string(sent)), os.Stderr
	out := must.Get(c.Output())(t)
	const no = "rejected: No matching signature found\n"
	if want := "failure.yours\nfailure.yours\n" + no + no + "rejected: Message timestamp too old\n"; string(out) != want {
		t.Errorf("%s", out)
	}
}
