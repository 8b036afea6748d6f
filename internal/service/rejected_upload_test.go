package service_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/client"
)

// A docket that is rejected in the middle is rejected with its reason at the first attempt, though the client is still sending: a connection
// that is reset would have it send the docket again.
func TestAccept_SV6_ARejectedDocketIsToldWhy(t *testing.T) {
	t.Parallel()
	p := startWith(t, "127.0.0.1:0", filepath.Join(t.TempDir(), "test.db"), func(c *service.Config) { c.MaxUpload = 2 << 20 })
	for name, tc := range map[string]struct {
		first string
		rest  io.Reader
		want  string
	}{
		"no case can be tried": {"{", rand.NewChaCha8([32]byte{}), "docket is binary data; Shadowcourt reads test reports"},
		"too large":            {docketOf(1), blank{}, "the docket has more than 2097152 bytes; split it, or raise --max-upload of the server (too_large)"},
	} {
		var again []error
		c, err := client.New(client.Config{Server: p.url, Token: p.token, Program: "test/1", Again: func(err error, _ time.Duration) { again = append(again, err) }})
		must(t, err)
		for n := range 3 {
			_, _, err := c.Submit(t.Context(), &client.Submission{Format: "jsonl", Key: fmt.Sprint(name, n)}, func() (io.ReadCloser, error) {
				return io.NopCloser(io.MultiReader(strings.NewReader(tc.first), tc.rest)), nil
			})
			if err == nil || !strings.Contains(err.Error(), tc.want) || len(again) > 0 {
				t.Fatalf("%s: %.200v after %q, want %q at the first attempt", name, err, again, tc.want)
			}
		}
	}
}

// blank is a text of empty lines, without an end.
type blank struct{}

func (blank) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}
