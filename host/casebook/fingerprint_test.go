package casebook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A run of the same failure: everything in braces differs from run to run.
const failing = `{color}=== RUN   TestTransfer{reset}
{date} INFO worker-{n} listening on {ip}:{port}
{time} request {uuid} took {dur}, sent {n} bytes
    transfer_test.go:{n}: balance of account is wrong after the transfer: rollback did not happen
    open {tmp}/ledger.db: no such file or directory
--- FAIL: TestTransfer ({secs}s)
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code={hex} addr={hex} pc={hex}]

{stacks}
commit {hash} built in {home}/bank/ledger.go:{n}
`

var stacks = []string{
	"goroutine {n} [running]:\nbank.(*Ledger).Post({hex}, {{hex}, {hex}})\n\t{home}/bank/ledger.go:{n} +{hex}\n",
	"goroutine {n} [select]:\nbank.(*Worker).Run({hex})\n\t{home}/bank/worker.go:{n} +{hex}\ncreated by bank.Start in goroutine {n}\n",
	"goroutine {n} [IO wait]:\ninternal/poll.runtime_pollWait({hex}, {hex})\n\t/usr/local/go/src/runtime/netpoll.go:{n} +{hex}\n",
}

// render writes one run of a failure, with everything that may differ drawn.
func render(t *rapid.T, text string) string {
	order := rapid.Permutation(stacks).Draw(t, "order")
	text = strings.ReplaceAll(text, "{stacks}", strings.Join(order, "\n"))
	pick := func(name string, of ...string) func() string {
		return func() string { return rapid.SampledFrom(of).Draw(t, name) }
	}
	num := func(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, "n") }
	hex := func(n int) string { return rapid.StringMatching(fmt.Sprintf("[0-9a-f]{%d}", n)).Draw(t, "hex") }
	draw := map[string]func() string{
		"color": pick("color", "", "\x1b[31m", "\x1b[1;38;5;196m"), "reset": pick("reset", "", "\x1b[0m", "\x1b[K"),
		"n":    func() string { return strconv.Itoa(num(0, 1_000_000)) },
		"port": func() string { return strconv.Itoa(num(1, 65535)) },
		"ip":   func() string { return fmt.Sprintf("%d.%d.%d.%d", num(1, 255), num(0, 255), num(0, 255), num(0, 255)) },
		"hex":  func() string { return fmt.Sprintf("0x%x", num(0, 1<<40)) },
		"hash": func() string { return "4" + hex(39) },
		"uuid": func() string { return hex(8) + "-" + hex(4) + "-" + hex(4) + "-" + hex(4) + "-" + hex(12) },
		"secs": func() string { return fmt.Sprintf("%d.%02d", num(0, 300), num(0, 99)) },
		"dur": func() string {
			return rapid.SampledFrom([]string{"1m3.5s", "300ms", "17µs", "2h45m", "0.01s", "12 seconds", "1 minute"}).Draw(t, "dur")
		},
		"date": func() string {
			return rapid.SampledFrom([]string{"2026-01-02T03:04:05Z", "2031-12-30 23:59:59.123456 +0200", "Mon, 02 Jan 2006 15:04:05 GMT", "2026/03/04 05:06:07"}).Draw(t, "date")
		},
		"time": func() string {
			return rapid.SampledFrom([]string{"03:04:05", "23:59:59.999", "3:04PM", "11:12:13,014"}).Draw(t, "time")
		},
		"tmp": func() string {
			return rapid.SampledFrom([]string{"/tmp/TestTransfer123/001", "/tmp/go-build77/b001", "/var/folders/zz/abc_1/T/TestTransfer9/002", "/private/tmp/x"}).Draw(t, "tmp")
		},
		"home": pick("home", "/home/ann/src", "/Users/bob/work/go", "/home/runner/work/bank", "/root/x"),
	}
	var b strings.Builder
	for text != "" {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		if f := draw[name]; closed && f != nil {
			b.WriteString(f())
			text = after
			continue
		}
		b.WriteByte('{')
		text = rest
	}
	return b.String()
}

func take(text string) casebook.Fingerprint {
	return casebook.Take(casebook.Failure{Subject: "TestTransfer fails in bank", Test: "TestTransfer", Texts: []string{text}})
}

func TestFingerprintStaysWhenARunDiffers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one, other := render(t, failing), render(t, failing)
		if a, b := take(one), take(other); a != b {
			t.Fatalf("two runs of one failure have different fingerprints:\n%s\n---\n%s\n%s\n%s", one, other, a.Exact, b.Exact)
		}
	})
}

func TestFingerprintChangesWithTheMessage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := strings.Fields("balance account wrong after did rollback happen")
		word := rapid.SampledFrom(words).Draw(t, "word")
		instead := rapid.StringMatching("[g-z]{3,10}").Draw(t, "instead")
		changed := strings.Replace(failing, " "+word, " "+instead, 1)
		if changed == failing {
			t.Skip("the same word")
		}
		a, b := take(render(t, failing)), take(render(t, changed))
		if a.Exact == b.Exact {
			t.Fatalf("%q in place of %q, and the same fingerprint", instead, word)
		}
	})
}

func TestFingerprintTellsTestsKindsAndFilesApart(t *testing.T) {
	t.Parallel()
	base := casebook.Failure{Subject: "s", Test: "TestV1", Texts: []string{"a_test.go:3: TypeError: no"}}
	first := casebook.Take(base)
	for name, change := range map[string]func(*casebook.Failure){
		"test":    func(f *casebook.Failure) { f.Test = "TestV2" },
		"file":    func(f *casebook.Failure) { f.Texts = []string{"b_test.go:3: TypeError: no"} },
		"kind":    func(f *casebook.Failure) { f.Texts = []string{"a_test.go:3: ValueError: no"} },
		"subject": func(f *casebook.Failure) { f.Subject = "other" },
	} {
		changed := base
		change(&changed)
		got := casebook.Take(changed)
		if got.Exact == first.Exact {
			t.Errorf("another %s, and the same fingerprint", name)
		}
	}
	if empty := casebook.Take(casebook.Failure{Subject: "s", Texts: []string{"\n12\n"}}); empty.Exact != "" {
		t.Errorf("a text without words has the fingerprint %+v", empty)
	}
}

// Of the failures of the example docket, those of one cause may look alike, and no two of different text do.
func TestFingerprintOfRealFailures(t *testing.T) {
	t.Parallel()
	file := must.Get(os.Open("../../examples/dockets/go-failures.jsonl"))(t)
	defer file.Close()
	seen := map[string]string{}
	count := 0
	for decoder := json.NewDecoder(file); decoder.More(); count++ {
		var c struct {
			ID        string `json:"id"`
			Subject   string `json:"subject"`
			Documents []struct {
				Text string `json:"text"`
			} `json:"documents"`
		}
		must.Do(t, decoder.Decode(&c))
		f := casebook.Failure{Subject: c.Subject}
		for _, d := range c.Documents {
			f.Texts = append(f.Texts, d.Text)
		}
		seen[casebook.Take(f).Exact] = c.ID
	}
	if count == 0 || len(seen) < count*8/10 {
		t.Errorf("%d failures have %d fingerprints", count, len(seen))
	}
}

func FuzzTake(f *testing.F) {
	f.Add(failing)
	f.Add("\x1b[31m\xff\x00 /tmp/ C:\\Users\\ ~ :: 1:2:3 0x - + # ##")
	f.Fuzz(func(t *testing.T, text string) {
		first := take(text)
		must.Equal(t, take(text), first, "two fingerprints of one text")
		if doubled := take(text + "\n" + text); len(text) < 1000 && doubled.Exact != first.Exact {
			t.Fatal("lines that come twice change the fingerprint")
		}
	})
}
