package service_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// A docket that is rejected in the middle is rejected with its reason at the first attempt, though the client is still sending: a connection
// that is reset would have it send the docket again.
func TestAccept_SV6_ARejectedDocketIsToldWhy(t *testing.T) {
	t.Parallel()
	p := startWith(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "test.db"), func(c *service.Config) { c.MaxUpload = 32 << 20 })
	binary := make([]byte, 16<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(binary)
	for want, report := range map[string][]byte{
		"docket is binary data; Shadowcourt reads test reports":                                              append([]byte("{"), binary...),
		"the docket has more than 33554432 bytes; split it, or raise --max-upload of the server (too_large)": append([]byte(docketOf(1)), bytes.Repeat([]byte("\n"), 64<<20)...),
	} {
		var again []error
		c, err := wire.NewClient(wire.ClientConfig{Server: p.url, Token: p.token, Program: "test/1", Again: func(err error, _ time.Duration) { again = append(again, err) }})
		must(t, err)
		for n := range 3 {
			_, _, err := c.Submit(t.Context(), &wire.Submission{Format: "jsonl", Key: fmt.Sprint(len(report), n)}, report)
			if err == nil || !strings.Contains(err.Error(), want) || len(again) > 0 {
				t.Fatalf("%.200v after %q, want %q at the first attempt", err, again, want)
			}
		}
	}
}
