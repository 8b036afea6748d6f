package testcmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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
		{"pytest -q -- tests", "pytest", "pytest -q --junitxml=REPORT --maxfail=0 --continue-on-collection-errors -- tests"},
		{"pytest --junit-xml own.xml", "pytest", "pytest --junit-xml own.xml --maxfail=0 --continue-on-collection-errors"},
		{"python3.11 -X dev -m pytest tests", "pytest", "python3.11 -X dev -m pytest tests --junitxml=REPORT --maxfail=0 --continue-on-collection-errors"},
		{"python -m coverage run --source src -m pytest", "pytest", "python -m coverage run --source src -m pytest --junitxml=REPORT --maxfail=0 --continue-on-collection-errors"},
		{"uv run --with pytest-cov pytest -x", "pytest", "uv run --with pytest-cov pytest -x --junitxml=REPORT --maxfail=0 --continue-on-collection-errors"},
		{"poetry run python -m pytest", "pytest", "poetry run python -m pytest --junitxml=REPORT --maxfail=0 --continue-on-collection-errors"},
		{".venv/bin/pytest tests", "pytest", ".venv/bin/pytest tests --junitxml=REPORT --maxfail=0 --continue-on-collection-errors"},
		{"npx --yes jest@29 src", "jest", "npx --yes jest@29 src --json --outputFile=REPORT --bail=0"},
		{"node --experimental-vm-modules node_modules/jest/bin/jest.js", "jest", "node --experimental-vm-modules node_modules/jest/bin/jest.js --json --outputFile=REPORT --bail=0"},
		{"jest --json --outputFile own.json", "jest", "jest --json --outputFile own.json --bail=0"},
		{"jest --watchAll=false", "jest", "jest --watchAll=false --json --outputFile=REPORT --bail=0"},
		{"npm test", "jest", "npm test -- --json --outputFile=REPORT --bail=0"},
		{"npm test -- --json", "jest", "npm test -- --json --bail=0"},
		{"npm run unit", "jest", "npm run unit -- --json --outputFile=REPORT --bail=0"},
		{"npm run go -- -json", "go test", "npm run go -- -json"},
		{"yarn test src", "jest", "yarn test src --json --outputFile=REPORT --bail=0"},
		{"yarn jest", "jest", "yarn jest --json --outputFile=REPORT --bail=0"},
		{"pnpm run view", "vitest", "pnpm run view --reporter=default --reporter=junit --outputFile.junit=REPORT --bail=0"},
		{"pnpm exec vitest", "vitest", "pnpm exec vitest --run --reporter=default --reporter=junit --outputFile.junit=REPORT --bail=0"},
		{"vitest run --reporter=junit --outputFile=own.xml", "vitest", "vitest run --reporter=junit --outputFile=own.xml --bail=0"},
		{"vitest --watch=false --reporter verbose", "vitest", "vitest --watch=false --reporter verbose --run --reporter=junit --outputFile.junit=REPORT --bail=0"},
		{"./mvnw -q verify", "mvn", "./mvnw -q verify -fae"},
		{"gradlew.bat :shop:test", "gradle", "gradlew.bat :shop:test --continue"},
		{"cargo +nightly nextest run -p shop -- --exact", "cargo nextest", "cargo +nightly nextest run -p shop --tool-config-file shadowcourt:nextest.toml --no-fail-fast -- --exact"},
		{"cargo-nextest nextest r", "cargo nextest", "cargo-nextest nextest r --tool-config-file shadowcourt:nextest.toml --no-fail-fast"},
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

// TestAccept_AK2_RunsAreCompleted or can't be; Completed and Stops say which.
func TestAccept_AK2_RunsAreCompleted(t *testing.T) {
	t.Setenv("GOFLAGS", "")
	t.Setenv("PYTEST_ADDOPTS", "")
	dir := scratch(t, map[string]string{"package.json": `{"scripts": {"go": "go test -failfast ./...", "vi": "vitest run --bail=1", "jest": "jest --bail", "py": "pytest -x", "off": "vitest run --bail=0"}}`})
	configured := scratch(t, map[string]string{
		"pytest.ini": "[pytest]\naddopts = -q -x\n", "jest.config.js": "module.exports = { bail: true };\n", "vite.config.ts": "export default { test: { bail: 1 } };\n",
		"pom.xml": "<project><modules><module>a</module></modules></project>", "build.gradle.kts": "tasks.test { failFast = true }\n", "CMakePresets.json": `{"testPresets": [{"execution": {"stopOnFailure": true}}]}`,
	})
	stepwise := scratch(t, map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\naddopts = \"--stepwise\"\n"})
	for _, c := range []struct{ dir, line, want, says string }{
		{dir, "go test -failfast ./...", "go test -json ./...", "go test is run without -failfast"},
		{dir, "go test -v --failfast=true . -args -test.failfast -failfast", "go test -json -v . -args -failfast", "without --failfast=true -test.failfast"},
		{dir, "go test -failfast=false ./...", "go test -json -failfast=false ./...", ""},
		{dir, "GOFLAGS=-failfast go test ./...", "go test -json -failfast=false ./...", "with -failfast=false, in spite of GOFLAGS"},
		{dir, "npm run go", "npm run go -- -json -failfast=false", "in spite of -failfast"},
		{dir, "pytest -vx --maxfail 2 tests", "pytest -vx tests --junitxml=REPORT --maxfail=0 --continue-on-collection-errors", "without -vx --maxfail=2"},
		{dir, "pytest --sw", "pytest --junitxml=REPORT --maxfail=0 --continue-on-collection-errors", "without --sw"},
		{dir, "npm run py", "npm run py -- --junitxml=REPORT --maxfail=0 --continue-on-collection-errors", "in spite of -x"},
		{dir, "env PYTEST_ADDOPTS=--maxfail=1 pytest", "env PYTEST_ADDOPTS=--maxfail=1 pytest --junitxml=REPORT --maxfail=0 --continue-on-collection-errors", "in spite of PYTEST_ADDOPTS"},
		{configured, "pytest", "pytest --junitxml=REPORT --maxfail=0 --continue-on-collection-errors", "in spite of pytest.ini"},
		{dir, "pytest --tb=long --tb no", "pytest --tb=long --tb no --junitxml=REPORT --maxfail=0 --continue-on-collection-errors --tb=short", "is run with --tb=short, in spite of --tb=no"},
		{dir, "PYTEST_ADDOPTS=--tb=line pytest -x", "pytest -x --junitxml=REPORT --maxfail=0 --continue-on-collection-errors --tb=short", "run too, and with --tb=short, in spite of PYTEST_ADDOPTS"},
		{stepwise, "pytest", "pytest --junitxml=REPORT", "! pyproject.toml has the run end at a failure"},
		{dir, "jest --bail=2 src", "jest src --json --outputFile=REPORT --bail=0", "without --bail=2"},
		{dir, "npm run jest", "npm run jest -- --json --outputFile=REPORT --bail=0", "in spite of --bail"},
		{configured, "jest", "jest --json --outputFile=REPORT --bail=0", "in spite of jest.config.js"},
		{dir, "vitest run --bail 1", "vitest run --reporter=default --reporter=junit --outputFile.junit=REPORT --bail=0", "without --bail=1"},
		{dir, "npm run vi", "npm run vi -- --reporter=default --reporter=junit --outputFile.junit=REPORT", "! --bail=1 of the script"},
		{dir, "npm run off", "npm run off -- --reporter=default --reporter=junit --outputFile.junit=REPORT", ""},
		{configured, "vitest run", "vitest run --reporter=default --reporter=junit --outputFile.junit=REPORT --bail=0", "in spite of vite.config.ts"},
		{dir, "mvn -ff test", "mvn test -fae", "without -ff"},
		{dir, "mvn test", "mvn test -fae", "with -fae"},
		{dir, "mvn -q test", "mvn -q test -fae", "with -fae"},
		{configured, "mvn -q test", "mvn test -fae", "without -q and with -fae"},
		{dir, "mvn -fn test", "mvn -fn test", ""},
		{dir, "gradle test --fail-fast", "gradle test --continue", "without --fail-fast"},
		{configured, "gradle test", "gradle test", "! build.gradle.kts"},
		{dir, "cargo nextest run --max-fail=1", "cargo nextest run --tool-config-file shadowcourt:nextest.toml --no-fail-fast", "without --max-fail=1"},
		{dir, "cargo nextest run --no-fail-fast", "cargo nextest run --no-fail-fast --tool-config-file shadowcourt:nextest.toml", ""},
		{dir, "ctest --stop-on-failure -j2", "ctest -j2 --output-junit REPORT", "without --stop-on-failure"},
		{configured, "ctest", "ctest --output-junit REPORT", ""},
		{configured, "ctest --preset ci", "ctest --preset ci --output-junit REPORT", "! CMakePresets.json"},
	} {
		command := parsed(t, c.dir, strings.Fields(c.line)...)
		check.Equal(t, strings.Join(command.line.with(command.Added), " "), c.want, c.line, "runs")
		stops, cant := strings.CutPrefix(c.says, "! ")
		completed := c.says
		if cant {
			completed = ""
		} else {
			stops = ""
		}
		if !strings.Contains(command.Completed, completed) || !strings.Contains(command.Stops, stops) || (completed == "") != (command.Completed == "") || (stops == "") != (command.Stops == "") {
			t.Errorf("%s: completed %q, stops %q, want %q", c.line, command.Completed, command.Stops, c.says)
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
		if strings.Contains(c.Completed, " without ") {
			return // what ends the run is taken out
		}
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
		manifest := must.Get(json.Marshal(map[string]any{"scripts": map[string]string{"test": script}}))(t)
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
	dir := scratch(t, map[string]string{"package.json": `{"scripts": {"go": "go test -tags=a ./...", "test": "A=b jest --runInBand --config=x.json", "node": "B=c npm run view -- --run", "view": "cross-env A=b node --no-warnings node_modules/vitest/vitest.mjs"}}`})
	for _, c := range []struct{ line, build, test, env, left string }{
		{line: "go test ./..."},
		{line: "go test -tags integration -race --mod=mod -v -count=3 -run X -shuffle on ./...", build: "-tags=integration -race --mod=mod", test: "-test.run=X"},
		{line: "go test -ldflags=-X=a.b=c -gcflags=all=-N -asmflags all=-D=x .", build: "-ldflags=-X=a.b=c -gcflags=all=-N -asmflags=all=-D=x"},
		{line: "go test -short -cpu 1,2 -test.parallel=3 . -json", test: "-test.short -test.cpu=1,2 -test.parallel=3"},
		{line: "go test . -degree=5 -tags=x word -race", build: "-tags=x", test: "-degree=5 word -race"},
		{line: "go test . ./b -degree 5 ./c", test: "-degree 5 ./c"},
		{line: "go test . -args -degree 5 -test.run X -test.short -v", test: "-degree 5 -test.run=X -test.short -v"},
		{line: "go test -C sub -timeout 5s . -v word", test: "-test.timeout=5s word"},
		{line: "go test -exec sudo -modfile=other.mod .", left: "-exec=sudo -modfile=other.mod"},
		{line: "A=b env C=d timeout 5m go test .", env: "A=b C=d"},
		{line: "npm run go", left: "-tags=a"},
		{line: "C=d npm test", env: "C=d A=b", left: "--config=x.json"},
		{line: "npm run node", env: "B=c A=b"},
		{line: "node -r ./env.js node_modules/jest/bin/jest.js", left: "-r ./env.js"},
		{line: "poetry run python -u -O -W error -m coverage run --source src -m pytest", left: "-O -W error"},
		{line: "pytest -vv -x --tb=short -k a -n4 -rA -p no:randomly -pown -o a=b --strict-config --own -- -b", env: "PYTEST_ADDOPTS=--tb=short -ka -v -v", left: "-p no:randomly -p own -o a=b --own"},
		{line: "pytest -k a|b -m not_slow --ignore tests/a.py --deselect=a.py::test_x[1] -kb", env: "PYTEST_ADDOPTS='-ka|b' -mnot_slow --ignore=tests/a.py '--deselect=a.py::test_x[1]' -kb"},
		{line: "pytest -p no:cacheprovider -pno:cov -q --durations=3"},
		{line: "PYTEST_ADDOPTS=-ra pytest -xvq --verbose --tb native", env: "PYTEST_ADDOPTS=-ra PYTEST_ADDOPTS=-ra --tb=native -v"},
		{line: "pytest --tb no --full-trace", env: "PYTEST_ADDOPTS=--tb=no --full-trace --tb=short"},
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
			check.Equal(t, strings.Join(part.got, " "), part.want, c.line, part.name)
		}
	}
}

// TestWhole: what of a command runs all its tests on another tree, and in which folder.
func TestWhole(t *testing.T) {
	t.Parallel()
	dir := scratch(t, map[string]string{"js/package.json": `{"scripts": {"test": "tsc && jest --json --config x.json", "again": "npm test -- -o"}}`})
	for line, want := range map[string]string{
		"pytest -vvqs tests/a.py -k 'a -xv --tb=short --verbose --junitxml r.xml --cov=x": "-s tests/a.py -k 'a -x --tb=short --cov=x --maxfail=0 --continue-on-collection-errors",
		"pytest -x -- tests":  "-x --maxfail=0 --continue-on-collection-errors -- tests",
		"pytest --lf":         "none",
		"pytest -q":           "--maxfail=0 --continue-on-collection-errors",
		"npm test -- -t db":   "--config x.json -t db --bail=0",
		"npm run again":       "none",
		"npx jest --coverage": "--bail=0",
		"npx jest -i --outputFile r.json --reporters=a --reporters b src": "-i src --bail=0",
		"npx vitest run src --reporter=verbose --coverage":                "src --bail=0",
		"npx vitest --changed": "none",
		"go test ./...":        "none",
		"ctest":                "none",
	} {
		in := dir
		if strings.HasPrefix(line, "n") {
			in = filepath.Join(dir, "js")
		}
		command, err := Parse(in, strings.Fields(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		p := command.Passed()
		got := strings.Join(p.Whole, " ")
		if p.Whole == nil {
			got = "none"
		}
		check.Equal(t, got, want, line)
		if p.Whole != nil {
			check.Equal(t, p.Dir, in, line)
		}
	}
}

// scratch writes files into a new folder.
func scratch(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.WriteFile(file, []byte(text), 0o755))
}

// shown is what a run came to, and what it printed.
type shown struct {
	ran         *Ran
	ids         []string // of the cases
	err         error
	out, errOut string
}

func parsed(t *testing.T, dir string, args ...string) *Command {
	t.Helper()
	return must.Get(Parse(dir, args))(t)
}

// runIn parses a command and runs it in a folder.
func runIn(t *testing.T, dir string, args ...string) shown {
	t.Helper()
	return runCommand(t, parsed(t, dir, args...))
}

func runCommand(t *testing.T, c *Command) shown {
	t.Helper()
	var out, errOut strings.Builder
	s := shown{}
	s.ran, s.err = c.Run(t.Context(), nil, &out, &errOut, func(e docket.Entry, err error) {
		if err == nil {
			s.ids = append(s.ids, e.Case.ID)
		}
	})
	s.out, s.errOut = out.String(), errOut.String()
	return s
}

// tells checks the figures of a run with reports, and that each failure was passed on.
func (s shown) tells(t *testing.T, code, tests, failures int) {
	t.Helper()
	if s.err != nil {
		t.Fatalf("%v\n%s%s", s.err, s.out, s.errOut)
	}
	if s.ran.ExitCode != code || s.ran.Tests != tests || s.ran.Failures != failures || s.ran.Failed() != (code != 0 || failures > 0) {
		t.Errorf("exit code %d, %d tests, %d failures, want %d, %d, %d\n%s%s", s.ran.ExitCode, s.ran.Tests, s.ran.Failures, code, tests, failures, s.out, s.errOut)
	}
	check.Len(t, s.ids, failures, "cases")
}

// endsEarly checks a run of which no test tells.
func (s shown) endsEarly(t *testing.T, code int, what string) {
	t.Helper()
	s.tells(t, code, 0, 0)
	if len(s.ran.Beside) != 1 || !strings.Contains(s.ran.Beside[0].What, what) || s.ran.Beside[0].Next != docket.OnBase {
		t.Errorf("beside tests %+v, want %q", s.ran.Beside, what)
	}
}

// fails checks an error.
func (s shown) fails(t *testing.T, want string) {
	t.Helper()
	if s.err == nil || !strings.Contains(s.err.Error(), want) || strings.Contains(s.err.Error(), "\n") {
		t.Errorf("error %v, want one with %q\n%s%s", s.err, want, s.out, s.errOut)
	}
}

// readJest converts a report and reads it, and gives what came of the tests.
func readJest(t *testing.T, dir, text string) (map[junit.Test]junit.End, []string, error) {
	t.Helper()
	var out strings.Builder
	if err := writeJest(&out, strings.NewReader(text), dir); err != nil {
		return nil, nil, err
	}
	ended := map[junit.Test]junit.End{}
	reader := junit.Reader{Ended: func(test junit.Test, end junit.End) {
		test.Elapsed = 0
		ended[test] = end
	}}
	var cases []string
	for entry, err := range reader.Read("jest", strings.NewReader(out.String())) {
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		var one strings.Builder
		one.WriteString(entry.Case.ID)
		for i := range entry.Case.Documents {
			one.WriteString("\n" + entry.Case.Documents[i].Text)
		}
		cases = append(cases, one.String())
	}
	return ended, cases, nil
}

func TestAccept_AL6_JestsOwnReportIsConverted(t *testing.T) {
	t.Parallel()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	ended, cases, err := readJest(t, dir, `{"numFailedTests": 2, "snapshot": {"a": [1, {}]}, "testResults": [
{"name": "`+filepath.ToSlash(dir)+`/src/cart.test.js", "status": "failed", "message": "all", "assertionResults": [
  {"ancestorTitles": ["cart", "with <two>"], "title": "totals", "status": "failed", "duration": 3500, "failureMessages": ["\u001b[31mError\u001b[39m: expect(2) & more\n  at src/cart.test.js:3:1"]},
  {"ancestorTitles": [], "title": "greets", "status": "passed", "duration": null, "failureMessages": []},
  {"ancestorTitles": [], "title": "retries", "status": "passed", "failureMessages": [], "retryReasons": ["too slow"]},
  {"ancestorTitles": [], "title": "later", "status": "todo"}]},
{"name": "/elsewhere/broken.test.js", "status": "failed", "message": "SyntaxError: here", "assertionResults": []}], "success": false}`)
	must.Do(t, err)
	for test, want := range map[junit.Test]junit.End{
		{Class: "cart with <two>", Name: "totals", File: "src/cart.test.js"}:                                      junit.Failed,
		{Class: "src/cart.test.js", Name: "greets", File: "src/cart.test.js"}:                                     junit.Passed,
		{Class: "src/cart.test.js", Name: "retries", File: "src/cart.test.js"}:                                    junit.Failed,
		{Class: "src/cart.test.js", Name: "later", File: "src/cart.test.js"}:                                      junit.Skipped,
		{Class: "Test suite failed to run", Name: "/elsewhere/broken.test.js", File: "/elsewhere/broken.test.js"}: junit.Failed,
	} {
		if got, ok := ended[test]; !ok || got != want {
			t.Errorf("%+v ended as %v (%v), want %v of %v", test, got, ok, want, ended)
		}
	}
	all := strings.Join(cases, "\n")
	for _, want := range []string{"Error: expect(2) & more\n  at src/cart.test.js:3:1", "flakyFailure:\ntoo slow", "SyntaxError: here"} {
		if !strings.Contains(all, want) || len(cases) != 3 || strings.Contains(all, "[31m") {
			t.Errorf("%d cases without %q:\n%s", len(cases), want, all)
		}
	}
	for _, damaged := range []string{"", "[]", "{", `{"testResults": {}}`, `{"testResults": [{"name": "a"`, `{"testResults": [{"name": 3}]}`, `{"a": [1}`} {
		if _, _, err := readJest(t, dir, damaged); err == nil {
			t.Errorf("%q is converted", damaged)
		}
	}
}

// TestAccept_AK1_AJestHookIsAFailure behind tests that passed, and beside one that failed.
func TestAccept_AK1_AJestHookIsAFailure(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]int{"passed": 1, "failed": 2} {
		_, cases, err := readJest(t, "/project", `{"testResults": [{"name": "/project/a.test.js", "status": "failed", "message": "\n  ● \u001b[1mTest suite failed to run\n\n    hook broke",
"assertionResults": [{"ancestorTitles": [], "title": "total", "status": "`+status+`"}]}]}`)
		if all := strings.Join(cases, "\n"); err != nil || len(cases) != want || !strings.Contains(all, "hook broke") {
			t.Errorf("%s: %v, %d cases, want %d:\n%s", status, err, len(cases), want, all)
		}
	}
}

// FuzzJest: what is converted can be read.
func FuzzJest(f *testing.F) {
	f.Add(`{"testResults": [{"name": "a", "status": "failed", "assertionResults": [{"ancestorTitles": ["\u0000"], "title": "]]>", "status": "failed", "failureMessages": ["<&"]}]}]}`)
	f.Add(`{"testResults": [{"name": "a", "status": "failed", "message": "m"}], "x": [{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, _, _ = readJest(t, "/project", text)
	})
}
