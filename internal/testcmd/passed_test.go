package testcmd

import (
	"strings"
	"testing"
)

func TestAccept_AL6_WhatRerunsGetOfACommand(t *testing.T) {
	t.Parallel()
	dir := scratch(t, map[string]string{"package.json": `{"scripts": {"go": "go test -tags=a ./...", "test": "A=b jest --runInBand"}}`})
	for _, c := range []struct{ line, build, test, env, left string }{
		{line: "go test ./..."},
		{line: "go test -tags integration -race --mod=mod -v -count=3 -run X -shuffle on ./...", build: "-tags=integration -race --mod=mod"},
		{line: "go test -ldflags=-X=a.b=c -gcflags=all=-N -asmflags all=-D=x .", build: "-ldflags=-X=a.b=c -gcflags=all=-N -asmflags=all=-D=x"},
		{line: "go test -short -cpu 1,2 -test.parallel=3 . -json", test: "-test.short -test.cpu=1,2 -test.parallel=3"},
		{line: "go test . -degree=5 -tags=x word -race", build: "-tags=x", test: "-degree=5 word -race"},
		{line: "go test . ./b -degree 5 ./c", test: "-degree 5 ./c"},
		{line: "go test . -args -degree 5 -test.run X -test.short -v", test: "-degree 5 -test.short -v"},
		{line: "go test -C sub -timeout 5s . -v word", test: "word"},
		{line: "go test -exec sudo -modfile=other.mod .", left: "-exec=sudo -modfile=other.mod"},
		{line: "A=b env C=d timeout 5m go test .", env: "A=b C=d"},
		{line: "npm run go", left: "-tags=a"},
		{line: "C=d npm test", env: "C=d", left: "--runInBand"},
		{line: "pytest -vv -x --tb=short -k a -p no:randomly --strict-markers -- -b", left: "-p --strict-markers"},
		{line: "mvn -q test -Dtest=A -Dzone=UTC", left: "-Dzone=UTC"},
	} {
		command, err := Parse(dir, strings.Fields(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		p := command.Passed()
		for _, part := range []struct {
			name, want string
			got        []string
		}{{"build", c.build, p.Build}, {"test", c.test, p.Test}, {"env", c.env, p.Env}, {"left", c.left, p.Left}} {
			if got := strings.Join(part.got, " "); got != part.want {
				t.Errorf("%s: %s is %q, want %q", c.line, part.name, got, part.want)
			}
		}
	}
}
