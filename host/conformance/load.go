package conformance

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// loadChecks are those that a module has passed that was loaded.
var loadChecks = []abitest.CheckID{ //nolint:gochecknoglobals // a constant
	abitest.CheckModule, abitest.CheckSizes, abitest.CheckExports, abitest.CheckReactor, abitest.CheckImports, abitest.CheckCapabilities,
}

// checkOf is the check that a fault at load breaks.
func checkOf(f registry.Fault) abitest.CheckID {
	switch sandbox.FaultCode(f.Code) {
	case sandbox.FaultTooBig, sandbox.FaultMemoryTooLarge, sandbox.FaultTableTooLarge,
		sandbox.FaultTooComplex, sandbox.FaultCompileTime:
		return abitest.CheckSizes
	case sandbox.FaultCommandModule, sandbox.FaultStart:
		return abitest.CheckReactor
	case sandbox.FaultMissingExport:
		return abitest.CheckExports
	case sandbox.FaultWrongSignature:
		if strings.HasPrefix(f.Detail, "import ") {
			return abitest.CheckImports
		}
		return abitest.CheckExports
	case sandbox.FaultForbiddenImport:
		if isCapability(f.Detail) {
			return abitest.CheckCapabilities
		}
		return abitest.CheckImports
	default:
		return abitest.CheckModule
	}
}

// advice says what may be imported, where something else was.
func advice(f registry.Fault) string {
	if sandbox.FaultCode(f.Code) != sandbox.FaultForbiddenImport || isCapability(f.Detail) {
		return ""
	}
	return "; imports come from wasi_snapshot_preview1, extism:host/env, extism:host/user and " + abi.CapabilityModule +
		" (§2.10 lists them), and a module that computes only needs none"
}

// isCapability says whether the import that a fault is about is, or would be, a capability.
func isCapability(detail string) bool {
	return strings.HasPrefix(detail, strconv.Quote(abi.CapabilityModule + ".")[:len(abi.CapabilityModule)+2])
}

// checkManifest checks the manifest against the file and the limits.
func (l *loading) checkManifest(limits sandbox.Limits) {
	if l.info.Size == 0 {
		return // no module: there is nothing to say of a manifest
	}
	fail := func(id abitest.CheckID, format string, args ...any) {
		l.report.Fail(id, abitest.Failure{Detail: fmt.Sprintf(format, args...)})
	}
	if l.info.ManifestBytes == nil && l.options.Roles != nil {
		l.report.Note("§1.4", "it has no manifest, and takes part in no trial before it has one; write it with `shadowcourt plugin annotate`")
		l.report.Try(abitest.CheckManifest, abitest.CheckVersion)
		l.checkCalls(l.roles.Manifest().Calls, "asked for", fail)
		return
	}
	l.report.Try(abitest.CheckManifest)
	m, err := codec.DecodeManifest(l.info.ManifestBytes, len(l.info.ManifestBytes))
	switch {
	case l.info.ManifestBytes == nil:
		fail(abitest.CheckManifest, "it has no manifest; write one with `shadowcourt plugin annotate`, or say with --role what to try")
		return
	case err != nil:
		fail(abitest.CheckManifest, "the manifest is rejected: %v", err)
		return
	}
	if again := codec.AppendManifest(nil, &m); !bytes.Equal(again, l.info.ManifestBytes) {
		fail(abitest.CheckManifest, "the manifest is not canonical: %d bytes, it would have %d", len(l.info.ManifestBytes), len(again))
	}
	l.report.Try(abitest.CheckVersion)
	if detail := registry.CheckVersion(m.ABI); detail != "" {
		fail(abitest.CheckVersion, "it %s", detail)
	}
	for _, detail := range registry.OverLimits(&m, limits) {
		fail(abitest.CheckManifest, "it %s", detail)
	}
	for _, detail := range registry.ManifestFaults(&m) {
		fail(abitest.CheckManifest, "%s", detail)
	}
	l.checkCalls(m.Calls, "promised by the manifest", fail)
}

// checkCalls checks the exports of a file against the calls that are promised.
func (l *loading) checkCalls(promised []abi.Call, by string, fail func(abitest.CheckID, string, ...any)) {
	l.report.Try(abitest.CheckCalls)
	if len(l.info.Calls) == 0 {
		return // a missing export, which loading tells of
	}
	for _, call := range promised {
		if !slices.Contains(l.info.Calls, call) {
			fail(abitest.CheckCalls, "%s calls are %s, and there is no export %s%s", call, by, abi.ExportPrefix, call)
		}
	}
	for _, call := range l.info.Calls {
		if l.manifest != nil && !slices.Contains(promised, call) {
			fail(abitest.CheckCalls, "there is an export %s%s, and the manifest promises no %s calls", abi.ExportPrefix, call, call)
		}
	}
}
