package shadowcourt

import (
	"go/version"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// securityFixes are the versions of modules in which their latest known vulnerabilities are fixed, with the advisory at
// pkg.go.dev/vuln. They are from the Go vulnerability database of 2026-08-21; RATIONALE.md tells of the last run on it.
var securityFixes = map[string]struct{ version, advisory string }{
	"github.com/go-jose/go-jose/v4":          {"v4.1.4", "GO-2026-4945"},
	"github.com/jackc/pgx/v5":                {"v5.9.2", "GO-2026-5004"},
	"github.com/klauspost/compress":          {"v1.18.7", "GO-2026-5841"},
	"github.com/modelcontextprotocol/go-sdk": {"v1.4.1", "GO-2026-4770"},
	"github.com/prometheus/client_golang":    {"v1.11.1", "GO-2022-0322"},
	"github.com/tidwall/gjson":               {"v1.9.3", "GO-2021-0265"},
	"go.opentelemetry.io/otel":               {"v1.44.0", "GO-2026-5158"},
	"go.opentelemetry.io/otel/sdk":           {"v1.43.0", "GO-2026-5426"},
	"golang.org/x/crypto":                    {"v0.52.0", "GO-2026-5005"},
	"golang.org/x/mod":                       {"v0.40.0", "GO-2026-6179"},
	"golang.org/x/net":                       {"v0.56.0", "GO-2026-5942"},
	"golang.org/x/oauth2":                    {"v0.27.0", "GO-2025-3488"},
	"golang.org/x/sys":                       {"v0.44.0", "GO-2026-5024"},
	"golang.org/x/text":                      {"v0.39.0", "GO-2026-5970"},
	"google.golang.org/grpc":                 {"v1.82.1", "GO-2026-6061"},
	"google.golang.org/protobuf":             {"v1.33.0", "GO-2024-2611"},
	"gopkg.in/yaml.v3":                       {"v3.0.0-20220521103104-8f96da9f5d5e", "GO-2022-0603"},
}

// goFix is the first Go release with the fixes of the standard library, GO-2026-6218 the latest of them.
const goFix = "go1.26.6"

// vulnerableModules have known vulnerabilities in the versions of the module graph, and no package that is built or tested.
var vulnerableModules = []string{
	"github.com/go-chi/chi/v5",    // GO-2026-5774, GO-2026-5775, GO-2026-5777
	"github.com/gofiber/fiber/v2", // GO-2026-4543, GO-2026-5585
	"github.com/quic-go/quic-go",  // GO-2026-5676
	"github.com/valyala/fasthttp", // GO-2026-4950
	"github.com/yuin/goldmark",    // GO-2026-5320
	"golang.org/x/image",          // GO-2026-6222 and others
	"rsc.io/pdf",                  // GO-2026-5781
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp", // GO-2026-4985
}

// vulnerablePackages have known vulnerabilities that no version of their module fixes.
var vulnerablePackages = []string{"golang.org/x/crypto/openpgp"} // GO-2026-5932

func TestAccept_FZ6_DependenciesHaveTheirSecurityFixes(t *testing.T) {
	t.Parallel()
	required := map[string]bool{}
	for _, file := range []string{"go.mod", "lab/go.mod", "host/bundle/go.mod", "cmd/shadowcourt-keyless/go.mod"} {
		text := must.Get(os.ReadFile(file))(t)
		module := must.Get(modfile.Parse(file, text, nil))(t)
		// A tidy go.mod has a line for each module with a package that is built or tested.
		for _, r := range module.Require {
			path, have := r.Mod.Path, r.Mod.Version
			required[path] = true
			if fix := securityFixes[path]; fix.version != "" && semver.Compare(have, fix.version) < 0 {
				t.Errorf("%s requires %s %s; %s is fixed in %s", file, path, have, fix.advisory, fix.version)
			}
			if slices.Contains(vulnerableModules, path) {
				t.Errorf("%s requires %s, whose known vulnerabilities nobody fixed here: update it and move it to securityFixes", file, path)
			}
		}
		if file == "go.mod" && (module.Toolchain == nil || version.Compare(module.Toolchain.Name, goFix) < 0) {
			t.Errorf("%s has no toolchain line that asks for %s or later", file, goFix)
		}
	}
	for path := range securityFixes {
		if !required[path] {
			t.Errorf("%s is no dependency any more: remove it from securityFixes", path)
		}
	}
}

// TestAccept_HX6_TheCommandLinksNoGRPC: what verifies keyless signatures is linked by its own program alone.
func TestAccept_HX6_TheCommandLinksNoGRPC(t *testing.T) {
	t.Parallel()
	out := must.Get(exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/shadowcourt").Output())(t)
	for path := range strings.Lines(string(out)) {
		if strings.HasPrefix(path, "google.golang.org/grpc") || strings.HasPrefix(path, "github.com/sigstore/") {
			t.Errorf("the command links %s", path)
		}
	}
}

func TestAccept_FZ6_NoVulnerablePackageIsLinked(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "./...")
	list.Stderr = os.Stderr
	out := must.Get(list.Output())(t)
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		for _, p := range vulnerablePackages {
			if path == p || strings.HasPrefix(path, p+"/") {
				t.Errorf("%s is imported, whose known vulnerabilities no version fixes", path)
			}
		}
	}
}
