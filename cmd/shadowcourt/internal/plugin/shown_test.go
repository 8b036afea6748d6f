package plugin

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// What registries say is no command to a CI platform that reads the log.
func TestAccept_DI4_NoLogCommands(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"::error file=a::x", "##[error]x", "a ##[error]x"} {
		m := &manifestJSON{Name: name, Version: name, Source: name, Capabilities: []string{name}}
		module := &inspected{assessment: &assessment{Reference: "oci://a/b"}, Manifest: m}
		var b strings.Builder
		s := cli.Streams{Out: &b, Err: &b}
		for _, err := range []error{printText(s, name+"\n"), module.print(s)} {
			must.Do(t, err)
		}
		if strings.Count(b.String(), "error") < 3 || strings.Contains(b.String(), "##[") {
			t.Error(b.String())
		}
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") {
				t.Errorf("a command: %q", line)
			}
		}
	}
}

// What people read of a module names who says so.
func TestAccept_DI4_WhoSaysSo(t *testing.T) {
	t.Parallel()
	passed := &trust.Kit{Passed: true}
	module := &inspected{assessment: &assessment{
		Uses:       []decided{{Roles: []string{"judge"}, Accepted: true, Signer: "acme, other"}},
		Signatures: []trust.Signature{{Type: trust.TypeConformance, Signer: "acme", Counts: true, Kit: passed}, {Type: trust.TypeConformance, Signer: "ac", Counts: true, Kit: passed}},
	}}
	check.Equal(t, module.kit(), "passed, says acme; passed, says ac, by whose signature the policy accepts nothing here")
	table := signatureTable([]trust.Signature{{Type: trust.TypeConformance, KeyID: "a", Why: "b"}, {Type: trust.TypeSignature, KeyID: "a", Why: "b"}})
	if strings.Count(table, "conformance kit") != 1 || strings.Count(table, "module") != 1 {
		t.Error(table)
	}
}

// A registry that does not answer is named once, after a while; one that does is not.
func TestAccept_DI4_ARegistryThatHangsIsNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		done := waiting(cli.Streams{Err: &b}, "oci://registry.example/a", "specter.wasm")
		time.Sleep(waitTime + time.Minute)
		done()
		waiting(cli.Streams{Err: &b}, "oci://registry.example")()
		waiting(cli.Streams{Err: &b}, "oci-layout:a")
		time.Sleep(time.Minute)
		check.Equal(t, b.String(), "waiting for registry.example\n")
	})
}
