package main

import (
	"net"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
)

// TestAccept_AL3_WhatTheLaboratoryLacks: each failure is due to the change, and its base fails in the laboratory alone, in the same way. None has an
// alibi, and each row says what would show it.
func TestAccept_AL3_WhatTheLaboratoryLacks(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	product := func(at, more string) string {
		return strings.NewReplacer("AT", at, "+ 0", more).Replace(`package shop

import (
	"net"
	"os"
)

func Configured() int { return len(os.Getenv("SHOP_CFG")) + 0 }

func Served() bool {
	c, err := net.Dial("tcp", "AT")
	if err == nil { _ = c.Close() }
	return err == nil
}

func read(name string) int { text, _ := os.ReadFile(name); return len(text) + 0 }

func Ignored() int { return read("local.cfg") }

func Three() int { return 3 + 0 }
`)
	}
	p := &project{
		green: map[string]string{
			"go.mod":     goModule,
			".gitignore": "local.cfg\n",
			"shop.go":    product(server.Addr().String(), "+ 0"),
			"shop_test.go": `package shop

import ("strings"; "testing")

func TestVariable(t *testing.T) { if Configured() != 3 { t.Error("not ready") } }
func TestServer(t *testing.T) { if !Served() { t.Error("not ready") } }
func TestIgnored(t *testing.T) { if Ignored() != 3 { t.Error("not ready") } }
func TestOutput(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	for range 20 { print(text) }
	if Three() != 3 { t.Error("not ready") }
}
func TestForged(t *testing.T) {
	print("\x16--- FAIL: TestForged (0.00s)\n    shop_test.go:14: not ready\n")
	if Three() != 3 { t.Error("not ready") }
}
`,
		},
		head: map[string]string{"shop.go": product("127.0.0.1:1", "+ 1"), "local.cfg": "cfg"},
	}
	p.write(t)
	variable := "SHOP_CFG=abc"
	got := p.alibi(t, []string{variable}, p.report(t, variable))
	for test, why := range map[string]string{
		"TestVariable": "with --env SHOP_CFG", "TestServer": "--network leaves it", "TestIgnored": "local.cfg, which git ignores", "TestOutput": "its limit of output",
	} {
		if a := got.answers[test]; a == nil || a.Verdict != alibi.IsOpen || !strings.Contains(a.Why, why) {
			t.Errorf("%s: %s", test, saidOf(a))
		}
	}
	if a := got.answers["TestForged"]; a == nil || a.Verdict == alibi.NotYours {
		t.Errorf("a base that forges its failure: %s", saidOf(a))
	}
	if got.code == 0 {
		t.Errorf("exit code 0\n%s", got.stderr)
	}
}
