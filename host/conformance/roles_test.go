package conformance_test

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// A module without a manifest is tried in the roles that it is asked for, and
// told that it needs one.
func TestRolesStandInForAManifest(t *testing.T) {
	t.Parallel()
	bare := broken(func(m *tiny) { m.manifest = nil })
	options := zooOptions()
	options.Roles = &abitest.Roles{Families: []abi.Family{abi.FamilyVerdict}}
	report, err := conformance.Run(t.Context(), bare, options)
	if err != nil || !report.Passed() || len(report.Notes) != 1 || report.Notes[0].Clause != "§1.4" {
		t.Errorf("%v, %+v", err, report)
	}
	options.Roles = &abitest.Roles{Families: []abi.Family{abi.FamilyDiscover}, Criteria: []string{"clear"}}
	report, err = conformance.Run(t.Context(), bare, options)
	if err != nil || len(report.Failed()) != 1 || report.Failed()[0].ID != abitest.CheckCalls {
		t.Errorf("asked for what it does not export: %v, %+v", err, report.Failed())
	}
	options.Roles = &abitest.Roles{Families: []abi.Family{abi.FamilyDiscover}}
	report, err = conformance.Run(t.Context(), bare, options)
	if err != nil || len(report.Failed()) != 1 || report.Failed()[0].ID != abitest.CheckArtifact {
		t.Errorf("asked to discover it gives a verdict: %v, %+v", err, report.Failed())
	}
}

// TestAccept_PR4_WhoIsNeverPreparedPasses: a host does not call the export of a module whose tables change, or that gets no requests from
// which something could be left out.
func TestAccept_PR4_WhoIsNeverPreparedPasses(t *testing.T) {
	t.Parallel()
	for want, also := range map[string]func(m *tiny){
		"it changes its tables": func(m *tiny) {
			m.TableMin = 1
			m.Funcs = append(m.Funcs, wasmtest.Func{Body: []byte{0x41, 0, 0xd0, 0x70, 0x26, 0}}) // table.set 0 null
		},
		"neither nodes nor contests": func(m *tiny) {
			m.serve(abi.CallEdges, codec.AppendEdgeResponse(nil, &abi.EdgeResponse{Failure: &abi.Failure{Code: "never"}}))
			m.manifest.Edges = []string{"HD1"}
		},
	} {
		report, err := conformance.Run(t.Context(), broken(func(m *tiny) {
			also(m)
			i32s := []byte{wasmtest.I32, wasmtest.I32}
			m.Funcs = append(m.Funcs, wasmtest.Func{Export: abi.ExportPrepare, Params: i32s, Results: []byte{wasmtest.I64}, Body: []byte{wasmtest.Unreachable}})
		}), zooOptions())
		if err != nil || !report.Passed() || !slices.ContainsFunc(report.Notes, func(n abitest.Note) bool {
			return n.Clause == "§2.19" && strings.Contains(n.Text, want)
		}) {
			t.Errorf("%s: %v, %+v", want, err, report)
		}
	}
}

// The module that SPEC.md shows whole keeps the contract that it stands in.
func TestTheModuleOfTheSpecificationPasses(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "abi", "SPEC.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text1, _ := strings.Cut(string(text), "<!-- begin module -->\n```text\n")
	text1, _, _ = strings.Cut(text1, "```")
	var wasm []byte
	for line := range strings.Lines(text1) {
		code, _, _ := strings.Cut(line, ";")
		b, err := hex.DecodeString(strings.Join(strings.Fields(code), ""))
		if err != nil {
			t.Fatal(err)
		}
		wasm = append(wasm, b...)
	}
	report, err := conformance.Run(t.Context(), wasm, zooOptions())
	if err != nil || !report.Passed() || len(report.Notes) != 1 || report.Notes[0].Clause != "§2.18" {
		t.Errorf("%v, %+v", err, report)
	}
}

// recorder is a test that is told of failures.
type recorder struct {
	ctx      context.Context //nolint:containedctx // as a *testing.T has one
	failures []string
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, strings.TrimSpace(strings.ReplaceAll(format, "%s", args[0].(string))))
}

func TestCheckFailsTheTestOfABrokenModule(t *testing.T) {
	t.Parallel()
	r := &recorder{ctx: t.Context()}
	conformance.CheckWith(r, broken(func(m *tiny) { m.Funcs[node].Body = m.gives(nil) }), zooOptions())
	if len(r.failures) != 1 || !strings.HasPrefix(r.failures[0], "SPEC.md §2.9, message: ") || !strings.Contains(r.failures[0], "\n  plain case 0, verdict: ") {
		t.Errorf("%q", r.failures)
	}
	r = &recorder{ctx: t.Context()}
	conformance.CheckWith(r, goodTiny().bytes(), zooOptions())
	if len(r.failures) > 0 {
		t.Errorf("%q", r.failures)
	}
}

func TestACheckThatIsCancelledSaysSo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	options := zooOptions()
	options.Progress = func(what string, done, _ int) {
		if what == "random cases" && done == 5 {
			cancel()
		}
	}
	if _, err := conformance.Run(ctx, goodTiny().bytes(), options); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
