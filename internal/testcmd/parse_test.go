package testcmd

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAccept_AL6_CommandsAreRecognized(t *testing.T) {
	t.Parallel()
	dir := scratch(t, map[string]string{
		"package.json": `{"scripts": {"test": "tsc -p . && NODE_ENV=test jest --ci", "unit": "npm run test -- --silent", "view": "vitest run", "go": "cross-env A=b go test ./...",
			"piped": "jest | tee log", "lint": "eslint .", "env": "jest $OPTS"}}`,
		"sub/x": "",
	})
	for _, c := range []struct{ line, runner, want string }{
		{"go test ./...", "go test", "go test -json ./..."},
		{"go test -C sub -run X ./... -args -json", "go test", "go test -C sub -json -run X ./... -args -json"},
		{"go -C sub test ./...", "go test", "go -C sub test -json ./..."},
		{"/usr/local/go/bin/go test -json", "go test", "/usr/local/go/bin/go test -json"},
		{"CGO_ENABLED=0 GOFLAGS=-v go test .", "go test", "go test -json ."},
		{"env -u HOME A=b timeout 5m go test .", "go test", "env -u HOME A=b timeout 5m go test -json ."},
		{"pytest -q -- tests", "pytest", "pytest -q --junitxml=REPORT -- tests"},
		{"pytest --junit-xml own.xml", "pytest", "pytest --junit-xml own.xml"},
		{"python3.11 -X dev -m pytest tests", "pytest", "python3.11 -X dev -m pytest tests --junitxml=REPORT"},
		{"python -m coverage run --source src -m pytest", "pytest", "python -m coverage run --source src -m pytest --junitxml=REPORT"},
		{"uv run --with pytest-cov pytest -x", "pytest", "uv run --with pytest-cov pytest -x --junitxml=REPORT"},
		{"poetry run python -m pytest", "pytest", "poetry run python -m pytest --junitxml=REPORT"},
		{".venv/bin/pytest tests", "pytest", ".venv/bin/pytest tests --junitxml=REPORT"},
		{"npx --yes jest@29 src", "jest", "npx --yes jest@29 src --json --outputFile=REPORT"},
		{"node --experimental-vm-modules node_modules/jest/bin/jest.js", "jest", "node --experimental-vm-modules node_modules/jest/bin/jest.js --json --outputFile=REPORT"},
		{"jest --json --outputFile own.json", "jest", "jest --json --outputFile own.json"},
		{"jest --watchAll=false", "jest", "jest --watchAll=false --json --outputFile=REPORT"},
		{"npm test", "jest", "npm test -- --json --outputFile=REPORT"},
		{"npm test -- --json", "jest", "npm test -- --json"},
		{"npm run unit", "jest", "npm run unit -- --json --outputFile=REPORT"},
		{"npm run go -- -json", "go test", "npm run go -- -json"},
		{"yarn test src", "jest", "yarn test src --json --outputFile=REPORT"},
		{"yarn jest", "jest", "yarn jest --json --outputFile=REPORT"},
		{"pnpm run view", "vitest", "pnpm run view --reporter=default --reporter=junit --outputFile.junit=REPORT"},
		{"pnpm exec vitest", "vitest", "pnpm exec vitest --run --reporter=default --reporter=junit --outputFile.junit=REPORT"},
		{"vitest run --reporter=junit --outputFile=own.xml", "vitest", "vitest run --reporter=junit --outputFile=own.xml"},
		{"vitest --watch=false --reporter verbose", "vitest", "vitest --watch=false --reporter verbose --run --reporter=junit --outputFile.junit=REPORT"},
		{"./mvnw -q verify", "mvn", "./mvnw -q verify"},
		{"gradlew.bat :shop:test", "gradle", "gradlew.bat :shop:test"},
		{"cargo +nightly nextest run -p shop -- --exact", "cargo nextest", "cargo +nightly nextest run -p shop --tool-config-file shadowcourt:nextest.toml -- --exact"},
		{"cargo-nextest nextest r", "cargo nextest", "cargo-nextest nextest r --tool-config-file shadowcourt:nextest.toml"},
		{"ctest --test-dir build -j2", "ctest", "ctest --test-dir build -j2 --output-junit REPORT"},
		{"ctest --output-junit own.xml", "ctest", "ctest --output-junit own.xml"},
	} {
		command, err := Parse(dir, strings.Fields(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if got := strings.Join(command.line.with(command.Added), " "); command.Runner != c.runner || got != c.want {
			t.Errorf("%s: %s runs %q, want %q", c.line, command.Runner, got, c.want)
		}
	}
	for _, c := range []struct{ line, want string }{
		{"", "a test command is missing"},
		{"make test", "runs no known test runner (go test, pytest, jest, vitest, mvn, gradle, cargo nextest, ctest)"},
		{"bash run.sh", "shadowcourt alibi REPORT"},
		{"python manage.py test", "no known test runner"},
		{"python -m unittest", "no known test runner"},
		{"uv run mypy", "no known test runner"},
		{"go build ./...", "use go test"},
		{"go vet", "use go test"},
		{"go test -c ./x", "with -c runs no tests: remove it"},
		{"cargo test", "use cargo nextest run"},
		{"pytest --collect-only", "remove it"},
		{"jest --watch", "remove it"},
		{"npx vitest watch", "does not end: use vitest run"},
		{"vitest --reporter=json --outputFile=x.json", "--outputFile.json=FILE"},
		{"mvn clean", "add test or verify"},
		{"gradle", "add test"},
		{"ctest -N", "remove it"},
		{"npm run piped", "what the script \"piped\" runs can't be told"},
		{"npm run env", "can't be told"},
		{"npm run lint", "no known test runner"},
		{"npm run none", "has no script \"none\""},
		{"npm --prefix sub test", "name the script right behind npm"},
		{"yarn workspace shop test", "no known test runner"},
	} {
		if _, err := Parse(dir, strings.Fields(c.line)); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one with %q", c.line, err, c.want)
		}
	}
}

// TestAccept_AL6_ParseKeepsTheUsersWords whatever they are: flags are inserted, and nothing is changed or lost.
func TestAccept_AL6_ParseKeepsTheUsersWords(t *testing.T) {
	t.Parallel()
	words := []string{"go", "test", "env", "npx", "python", "-m", "pytest", "jest", "vitest", "run", "npm", "yarn", "uv", "--", "-x", "A=b", "5m", "=", "", "nextest", "cargo", "mvn", "-C"}
	dir := scratch(t, map[string]string{"package.json": `{"scripts": {"test": "npm test", "run": "yarn run run"}}`})
	rapid.Check(t, func(r *rapid.T) {
		args := rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(r, "args")
		c, err := Parse(dir, slices.Clone(args))
		if err != nil {
			return
		}
		_, rest := assignments(args)
		with := c.line.with(c.Added)
		if n := len(with) - len(rest); n < 0 || !slices.Equal(slices.Concat(with[:c.line.at], with[c.line.at+n:]), rest) {
			r.Fatalf("%q becomes %q", args, with)
		}
	})
}

// FuzzParse reads a command line and a script of package.json: both are found to run tests, or rejected in one line.
func FuzzParse(f *testing.F) {
	f.Add("npm test -- --ci", "tsc && NODE_ENV='a b' jest \"x y\"")
	f.Add("A=b env -i timeout 5m go test ./... -args -v", "npm run test")
	f.Add("yarn test", "jest; cargo nextest run | tee")
	f.Fuzz(func(t *testing.T, line, script string) {
		manifest, err := json.Marshal(map[string]any{"scripts": map[string]string{"test": script}})
		if err != nil {
			t.Fatal(err)
		}
		dir := scratch(t, map[string]string{"package.json": string(manifest)})
		if c, err := Parse(dir, strings.Split(line, " ")); err == nil {
			if c.Runner == "" || len(c.line.words) == 0 {
				t.Errorf("%q: %+v", line, c)
			}
		}
	})
}

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
