package moduleref_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/moduleref"
)

func TestAccept_DI1_References(t *testing.T) {
	t.Parallel()
	hex := "@sha256:" + strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		"oci://ghcr.io/judges/reader:v1" + hex:   "ghcr.io/judges/reader|v1|" + hex[1:],
		"oci://LOCALHOST:5000/reader":            "localhost:5000/reader||",
		"oci://[::1]:5000/a/b:v1":                "[::1]:5000/a/b|v1|",
		"oci-layout:some/./folder:v1" + hex:      "some/./folder|v1|" + hex[1:],
		"oci-layout:/air@gap/site":               "/air@gap/site||",
		"oci-layout:../site":                     "../site||",
		"oci://reader":                           "",
		"oci://ghcr.io/":                         "",
		"oci://ghcr.io/Judges/reader":            "",
		"oci://ghcr.io/a/../b":                   "",
		"oci://user:pass@ghcr.io/a":              "",
		"oci://ghcr.io/a?b":                      "",
		"oci://ghcr.io/a:":                       "",
		"oci://ghcr.io/a@sha512:" + hex:          "",
		"oci://ghcr.io/a@sha256:" + hex[8:20]:    "",
		"oci://ghcr.io/a" + strings.ToUpper(hex): "",
		"oci://gh\ncr.io/a":                      "",
		"oci-layout:":                            "",
		"oci-layout:a@sha256:../../etc":          "",
		"oci-layout:a@b:v1":                      "a@b|v1|",
		"oci-layout:a:b/":                        "a:b/||",
		"oci-layout:a@sha512:b":                  "",
		"ghcr.io/judges/reader":                  "",
		"oci://a/" + strings.Repeat("b", 5000):   "",
	} {
		r, err := moduleref.Parse(text)
		if want == "" {
			if err == nil || len(err.Error()) > 1000 || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v, %v", text, r, err)
			}
			continue
		}
		if got := strings.TrimPrefix(r.Repository(), moduleref.Layout) + "|" + r.Tag() + "|" + r.Digest(); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		if again, err := moduleref.Parse(r.String()); err != nil || again != r {
			t.Errorf("%s becomes %s: %v", text, r, err)
		}
	}
}

// FuzzParse reads references; what is taken is printed so that it is read as the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"oci://ghcr.io/judges/reader:v1", "oci://[::1]:5000/a@sha256:" + strings.Repeat("ab", 32), "oci-layout:../x:v1", "oci-layout:a@b", "oci://a/b@"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := moduleref.Parse(text)
		if err != nil {
			return
		}
		if again, err := moduleref.Parse(r.String()); err != nil || again != r {
			t.Errorf("%q becomes %q, which is %+v, %v", text, r.String(), again, err)
		}
	})
}
