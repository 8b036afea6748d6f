package webhook_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/webhook"
)

const (
	oneSecret     = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	anotherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD2kdMNhU1zk8="
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The example of the specification's authors.
func TestAccept_IG7_SignaturesAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	got, err := webhook.Signature([]string{oneSecret}, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	for _, text := range []string{"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_short", "whsec_" + strings.Repeat("A", 92), "whsec_not base64 not base64 not base6"} {
		if _, err := webhook.Signature([]string{text}, "a", time.Unix(0, 0), nil); err == nil || len(text) > 6 && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// received is a message as a receiver has it, and what is asked of it.
type received struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Now     int64             `json:"now"`
}

// snippet is the receiver's side as the documentation has it.
func snippet(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/service.md")
	must(t, err)
	found := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(found) != 1 {
		t.Fatalf("%d snippets of Python", len(found))
	}
	return found[0][1]
}

// verify has the documented snippet verify messages: it gives their ids, or why they are rejected.
func verify(t *testing.T, list ...received) []string {
	t.Helper()
	const rest = `
import json, sys
for m in json.load(sys.stdin):
    try:
        print(verify(m["secret"], m["headers"], m["body"].encode(), lambda: m["now"]))
    except ValueError as e:
        print("rejected:", e)
`
	sent, err := json.Marshal(list)
	must(t, err)
	c := exec.CommandContext(t.Context(), "python3", "-c", snippet(t)+rest)
	c.Stdin, c.Stderr = strings.NewReader(string(sent)), os.Stderr
	out, err := c.Output()
	must(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the documented snippet is Python")
	}
}

// A recorded message can't be sent again later, or changed, and one of somebody else is rejected.
func TestAccept_IG7_TheDocumentedReceiverRejectsReplays(t *testing.T) {
	t.Parallel()
	needPython(t)
	at := time.Unix(1_800_000_000, 0)
	const body = `{"type":"docket.finished"}`
	signed, err := webhook.Signature([]string{anotherSecret, oneSecret}, "msg_1", at, []byte(body))
	must(t, err)
	good := func() received {
		return received{oneSecret, map[string]string{"webhook-id": "msg_1", "webhook-timestamp": strconv.FormatInt(at.Unix(), 10), "webhook-signature": signed}, body, at.Unix() + 20}
	}
	changed := func(change func(*received)) received {
		m := good()
		change(&m)
		return m
	}
	got := verify(t,
		good(), changed(func(m *received) { m.Secret = anotherSecret }),
		changed(func(m *received) { m.Now += 3600 }), changed(func(m *received) { m.Now -= 3600 }),
		changed(func(m *received) { m.Body += " " }), changed(func(m *received) { m.Headers["webhook-id"] = "msg_2" }),
		changed(func(m *received) { m.Headers["webhook-timestamp"] = strconv.FormatInt(at.Unix()+1, 10) }),
		changed(func(m *received) { m.Secret = "whsec_" + strings.Repeat("A", 32) }),
		changed(func(m *received) {
			m.Headers["webhook-signature"] = "v1,AAAA " + strings.ReplaceAll(signed, "v1,", "v2,")
		}),
	)
	want := append([]string{"msg_1", "msg_1", "rejected: too old or too new", "rejected: too old or too new"}, strings.Split(strings.Repeat("rejected: wrong signature\n", 5), "\n")[:5]...)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
}
