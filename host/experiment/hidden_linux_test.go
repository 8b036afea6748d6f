//go:build linux

package experiment_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// hidden is what a test asks for, as code that is true where it is there, and what is said where a base has failed without it.
type hidden struct{ name, code, lacks string }

// userWith makes a home with a file and a program, sockets, and variables that experiments hide.
func userWith(t *testing.T) (home string) {
	t.Helper()
	if !isolate.CanView() {
		t.Skip("the system allows no user namespaces")
	}
	here := must.Get(os.Getwd())(t)
	if strings.HasPrefix(here, os.TempDir()+"/") {
		t.Skip("this checkout is below the folder of temporary files, which experiments hide in any case")
	}
	own := must.Get(os.UserHomeDir())(t)
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		t.Setenv(name, strings.TrimSpace(string(must.Get(exec.CommandContext(t.Context(), "go", "env", name).Output())(t))))
	}
	if _, err := os.Stat(filepath.Join(own, ".pyenv")); err == nil {
		t.Setenv("PYENV_ROOT", filepath.Join(own, ".pyenv"))
	}
	home = must.Get(os.MkdirTemp(here, "home-"))(t) //nolint:usetesting // not below /tmp
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	must.Write(t, home, map[string]string{".shop/token": "x", "bin/rates": "#!/bin/sh\n", ".cache/noise": "", ".npmrc": ""})
	must.Do(t, os.Chmod(filepath.Join(home, "bin", "rates"), 0o700))
	for _, name := range []string{filepath.Join(home, "s"), "/tmp/shadowcourt-test.sock"} {
		_ = os.Remove(name)
		l := must.Get(net.Listen("unix", name))(t)
		t.Cleanup(func() { _ = l.Close() })
	}
	t.Setenv("HOME", home)
	t.Setenv("SHOP_TOKEN", "secret")
	t.Setenv("SHOP_OTHER", "secret")
	return home
}

// lacksWhatIsHidden runs the tests of a base that fail where something is hidden, and one that fails in any case, for the failure TEXT.
func lacksWhatIsHidden(t *testing.T, dir string, kinds []hidden, failed func(name string) *abi.Case) {
	t.Helper()
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "green")
	must.Git(t, dir, "tag", "green")
	must.Write(t, dir, map[string]string{
		"local/rates.json": "{}", "local_rates.py": "", "README": "changed\n", "untracked.conf": "x", "conftest.py": "", "added/file": "x", "../beside/rates.json": "{}",
		"conf.d/local.json": "{}", "local.db": "x", "built/local_init.go": "package built\n\nfunc init() { token = true }\n",
		"plain/new.go": "package plain\n\n// New comes with the change.\nfunc New() {}\n",
	})
	must.Git(t, dir, "add", "-N", "added")
	must.Do(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour, PerCase: time.Hour})
	whole := tier.Whole("host/experiment")
	for i, k := range kinds {
		if i%5 != 0 && !whole {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			for _, e := range []string{onlyGreen, "base/base/original/original/2"} { // what it lacks alone it lacks with others, too
				r, err := l.Run(t.Context(), failed(k.name), parse(t, e))
				switch {
				case err != nil:
					t.Fatal(err)
				case k.lacks == "" && (r.Outcome != abi.OutcomeSame && r.Outcome != abi.OutcomeOther || strings.Contains(r.Detail, plan.NotTraced)):
					t.Errorf("%s: got %+v", e, r)
				case k.lacks != "" && (r.Outcome != abi.OutcomeNotRun || !strings.Contains(r.Detail, k.lacks)):
					t.Errorf("%s: got %+v, want %q", e, r, k.lacks)
				}
			}
		})
	}
}

const (
	lacksToken = "the variable SHOP_TOKEN, which tests in experiments do not see; alibi gives it to them with --env SHOP_TOKEN"
	lacksOther = "the variable SHOP_OTHER, "
	lacksFile  = "the test reads local/rates.json, which git ignores"
	lacksHome  = "the test reads ~/.shop/token, which tests in experiments do not see: " + plan.ShowsHome
	lacksTool  = "the test reads ~/bin/rates, which "
	lacksGit   = "the test reads .git, which experiments do not have"
	lacksEmpty = "the test looks for the folder empty, which git does not keep, so that experiments lack it"
	lacksList  = ", and experiments do not have all of yours; alibi runs tests outside of them with --native"
	lacksConf  = "the test reads conf.d/local.json, which git ignores"
	lacksDB    = "the test reads local.db, which git ignores"
	lacksNew   = "the test reads untracked.conf, which is not committed, so that experiments lack it"
)

// TestAccept_AK3_WhatIsHiddenFromPython is noticed, whoever reads it.
func TestAccept_AK3_WhatIsHiddenFromPython(t *testing.T) {
	for _, tool := range []string{"pytest", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	dir, home := t.TempDir(), userWith(t)
	kinds := []hidden{
		{"variable", `"SHOP_TOKEN" in os.environ`, "the test reads " + lacksToken},
		{"made_name", `os.getenv("shop_other".upper())`, "the test reads " + lacksOther},
		{"of_child", `run(sys.executable, "tools/child.py")`, "reads tools/child.py, which names " + lacksToken},
		{"listed_by_child", `run(sys.executable, "tools/list.py")`, "reads tools/list.py, which names the variable SHOP_OTHER"},
		{"of_shell", `run("sh", "-c", "test $SHOP_TOKEN")`, "reads test_of_shell.py, which names " + lacksToken},
		{"file", `os.path.exists("local/rates.json")`, lacksFile},
		{"file_of_child", `run("sh", "-c", "cat ./local/rates.json")`, lacksFile},
		{"folder", `os.path.isdir("empty")`, lacksEmpty},
		{"file_of_folder", `open_("empty/rates.db", "w")`, lacksEmpty},
		{"folder_of_folder", `run("mkdir", "empty/rates")`, lacksEmpty},
		{"in_folder", `run("sh", "-c", "cd empty")`, lacksEmpty},
		{"untracked", `os.path.exists("untracked.conf")`, lacksNew},
		{"module", `importable("local_rates")`, "the test reads local_rates.py, which git ignores"},
		{"home", `os.path.exists(os.path.expanduser("~/.shop/token"))`, lacksHome},
		{"home_by_path", `open_("` + home + `/.shop/token")`, lacksHome},
		{"socket", `connect("` + home + `/s")`, "the test asks for the socket ~/s, which "},
		{"socket_of_tmp", `connect("/tmp/shadowcourt-test.sock")`, "the test asks for the socket /tmp/shadowcourt-test.sock, which "},
		{"program", `run("` + home + `/bin/rates")`, lacksTool},
		{"git", `run("git", "rev-parse", "HEAD")`, lacksGit},
		{"git_folder", `os.path.isdir(".git")`, lacksGit},
		{"listed", `[v for k, v in os.environ.items() if k[5:] == "TOKEN"]`, "the test lists all variables in test_listed.py" + lacksList},
		{"folder_listed", `"local.json" in os.listdir("conf.d")`, lacksConf},
		{"folder_matched", `len(list(pathlib.Path("conf.d").glob("*.json"))) > 1`, lacksConf},
		{"created", `open_("local.db", "a+").tell()`, lacksDB},
		{"plain", `False`, ""},
		{"passed_on", `"subprocess" and run_with(env=dict(os.environ, A="b")) or mock.patch.dict(os.environ, A="b").start() is None or os.environ.popitem() is None or not os.listdir("tools")`, ""},
		{"version", `importlib.metadata.version("pytest") == ""`, ""},
		{"tool_folder", `run("mkdir", "` + home + `/.local/made")`, ""},
		{"proxies", `urllib.request.getproxies_environment()`, ""},
		{"harmless", `made() or os.path.isdir("added") or os.path.exists("added/file") or os.path.exists(os.path.expanduser("~/.cache/noise")) or os.getenv("SHOP_NONE") or run("sh", "-c", "ls ~ ; test -e /etc/x")`, ""},
	}
	common := `import importlib.metadata, os, pathlib, socket, subprocess, sys, urllib.request
from unittest import mock
import pytest

def run(*args):
    try:
        return subprocess.run(args).returncode == 0
    except OSError:
        return False

def run_with(env):
    return subprocess.run("false", env=env).returncode == 0

def importable(name):
    try:
        return __import__(name)
    except ImportError:
        return False

def open_(*args):
    try:
        return open(*args)
    except OSError:
        return False

def connect(name):
    try:
        return not socket.socket(socket.AF_UNIX).connect(name)
    except OSError:
        return False

def made():
    if not os.path.exists("out.log"):
        open("out.log", "w").close()
    open("local.db", "a").close()
    os.makedirs("empty/rates")
    os.removedirs("empty/rates")

`
	for _, k := range kinds {
		must.Write(t, dir, map[string]string{
			"test_" + k.name + ".py": "from common import *\n\ndef test_it():\n    if not (" + k.code + "):\n        raise AssertionError(\"the rate is 0\")\n",
		})
	}
	before := "import os\nTOKEN = os.environ.get(\"SHOP_TOKEN\")\n"
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{
		".gitignore": "local*\nout.log\n__pycache__\n", "pytest.ini": "[pytest]\n", "common.py": common, "conf.d/base.json": "{}", "out.log": "of the user", "__pycache__/test_rates.pyc": "",
		"tools/child.py":    "import os, sys\nsys.exit(\"SHOP_TOKEN\" not in os.environ)\n",
		"tools/list.py":     "import os, sys\nsys.exit(not [k for k in os.environ if k.startswith(\"SHOP_\")])\n",
		"early/conftest.py": before, "early/test_early.py": "import conftest\n\ndef test_it():\n    if not conftest.TOKEN:\n        raise AssertionError(\"the rate is 0\")\n",
	})
	lacksWhatIsHidden(t, dir, append(kinds, hidden{"early", "", "the test reads " + lacksToken}), func(name string) *abi.Case {
		class := "test_" + name
		if name == "early" {
			class = "early.test_early"
		}
		return &abi.Case{Group: class, Subject: "test_it fails in " + class, Documents: []abi.Document{{Name: "failure", Text: "E   AssertionError: the rate is 0\n"}}}
	})
}

// TestAccept_AK3_WhatIsHiddenFromGo is noticed where its children ask, and before its tests begin, too.
func TestAccept_AK3_WhatIsHiddenFromGo(t *testing.T) {
	dir, home := t.TempDir(), userWith(t)
	kinds := []hidden{
		{"Variable", `os.Getenv("SHOP_TOKEN") != ""`, "the test reads " + lacksToken},
		{"OfChild", `run("go", "run", "./tools")`, "reads tools/main.go, which names " + lacksToken},
		{"OfScript", `run("sh", "tools/child.sh")`, "reads tools/child.sh, which names " + lacksToken},
		{"FileOfChild", `run("cat", "local/rates.json")`, lacksFile},
		{"HomeOfChild", `run("sh", "-c", "cat ~/.shop/token")`, lacksHome},
		{"Socket", `dial("` + home + `/s")`, "the test asks for the socket ~/s, which "},
		{"Program", `run("` + home + `/bin/rates")`, lacksTool},
		{"Git", `run("git", "rev-parse", "HEAD")`, lacksGit},
		{"Moved", `os.Rename(file(t), "moved.db") == nil`, "the test moves a file to moved.db from a folder that experiments do not have in the same file system"},
		{"Folder", `os.WriteFile("empty/rates.db", nil, 0o600) == nil`, lacksEmpty},
		{"Large", `os.Truncate(file(t), 1<<40) == nil`, "the test makes a file of more than 1073741824 bytes, which experiments do not allow"},
		{"Untracked", `run("cat", "untracked.conf")`, lacksNew},
		{"Beside", `run("cat", "../beside/rates.json")`, "the test reads ../beside/rates.json, which is outside of the repository, so that experiments lack it"},
		{"LinkBeside", `run("cat", "link.json")`, "the test reads ../beside/rates.json, which is outside of the repository"},
		{"FolderBeside", `run("ls", "../beside")`, "the test looks for the folder ../beside, which is outside of the repository"},
		{"FolderListed", `files("conf.d") == 2`, lacksConf},
		{"Created", `created("local.db")`, lacksDB},
		{"plain", `passedOn() || exec.Command("sh", "-c", "F=$(mktemp); mv $F moved.db && mkdir made && mkfifo made/pipe && mv moved.db made && rm -r made; echo >/dev/null; test -w /etc && false").Run() == nil || exec.Command("cat", "../added/file").Run() == nil || exec.Command("cat", "../loop").Run() == nil || exec.Command("ls", "../added", "../../none").Run() == nil`, ""},
	}
	if _, err := os.Stat("/dev/kmsg"); err == nil {
		kinds = append(kinds, hidden{"Device", `run("test", "-e", "/dev/kmsg")`, "the test reads /dev/kmsg, which experiments do not have"})
	}
	if os.Geteuid() == 0 { // others may do neither
		kinds = append(kinds, hidden{"Sealed", `run("sh", "-c", "echo >/etc/shadowcourt-test")`, "the test writes to /etc/shadowcourt-test, which is read-only in experiments"},
			hidden{"Right", `run("mknod", "device", "c", "1", "3")`, "the test needs a right that experiments do not have, for mknod; alibi runs tests outside of them with --native"})
	}
	test := `package shop

import (
	"net"
	"os"
	"os/exec"
	"testing"
)

func run(name string, args ...string) bool { return exec.Command(name, args...).Run() == nil }

func file(t *testing.T) string {
	name := t.TempDir() + "/rates.db"
	os.WriteFile(name, nil, 0o600)
	return name
}

func files(folder string) int {
	list, _ := os.ReadDir(folder)
	return len(list)
}

func created(name string) bool {
	f, _ := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	info, err := f.Stat()
	return err == nil && info.Size() > 0
}

func dial(name string) bool {
	c, err := net.Dial("unix", name)
	if err == nil {
		c.Close()
	}
	return err == nil
}
`
	plain := "package plain\n\nimport (\n\t\"os\"\n\t\"os/exec\"\n\t\"testing\"\n)\n\n" +
		"func passedOn() bool {\n\tc := exec.Command(\"false\")\n\tc.Env = append(os.Environ(), \"A=b\")\n\treturn c.Run() == nil\n}\n"
	for _, k := range kinds {
		of := &test
		if k.lacks == "" {
			of = &plain
		}
		*of += "\nfunc Test" + k.name + "(t *testing.T) {\n\tif !(" + k.code + ") {\n\t\tt.Error(\"the rate is 0\")\n\t}\n}\n"
	}
	early := "package early\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nVAR\n\nfunc TestIt(t *testing.T) {\n\tif !token {\n\t\tt.Error(\"the rate is 0\")\n\t}\n}\n"
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{
		".gitignore": "local*\n", "go.mod": "module example.com/shop\n\ngo 1.26\n", "shop_test.go": test, "plain/it_test.go": strings.ReplaceAll(plain, "Testplain", "TestIt"),
		"tools/main.go":    "package main\n\nimport \"os\"\n\nfunc main() {\n\tif os.Getenv(\"SHOP_TOKEN\") == \"\" {\n\t\tos.Exit(1)\n\t}\n}\n",
		"tools/child.sh":   "test $SHOP_TOKEN\n",
		"early/it_test.go": strings.ReplaceAll(early, "VAR", "const name = \"SHOP_TOKEN\"\n\nfunc env(name string) bool { return os.Getenv(name) != \"\" }\n\nvar token = env(name)"),
		"conf.d/base.json": "{}", "built/it_test.go": strings.NewReplacer("early", "built", "\t\"os\"\n", "", "VAR", "var token bool").Replace(early),
		"listed/it_test.go": strings.ReplaceAll(early, "VAR", "var token = func() bool {\n\tfor _, env := range os.Environ() {\n\t\tif env[5:] == \"TOKEN=secret\" {\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}()"),
		"made/it_test.go":   strings.NewReplacer("early", "made", "\"os\"", "\"syscall\"", "VAR", "var suffix = \"_TOKEN\"\n\nvar _, token = syscall.Getenv(\"SHOP\"[:4] + suffix)").Replace(early),
		"file/it_test.go":   strings.ReplaceAll(early, "VAR", "var token bool\n\nfunc init() {\n\t_, err := os.Stat(\"../local/rates.json\")\n\ttoken = err == nil\n}"),
	})
	must.Do(t, errors.Join(os.Symlink("link2.json", filepath.Join(dir, "link.json")), os.Symlink("../beside/rates.json", filepath.Join(dir, "link2.json")), os.Symlink("loop", filepath.Join(dir, "loop"))))
	kinds = append(kinds, hidden{"early", "", "the code that is tested, which may read it before the tests begin, names in early/it_test.go " + lacksToken}, hidden{"file", "", lacksFile},
		hidden{"built", "", "the code is built with built/local_init.go, which git ignores"}, hidden{"listed", "", "the test lists all variables in listed/it_test.go" + lacksList},
		hidden{"made", "", "the test lists all variables in made/it_test.go" + lacksList})
	lacksWhatIsHidden(t, dir, kinds, func(name string) *abi.Case {
		group, test := "example.com/shop", "Test"+name
		if name == strings.ToLower(name) {
			group, test = group+"/"+name, "TestIt"
		}
		return &abi.Case{Group: group, Subject: test + " fails in " + group, Documents: []abi.Document{{Name: "log", Text: "    x_test.go:1: the rate is 0\n"}}}
	})
}

// TestAccept_AK3_WhatIsHiddenFromJavaScript is noticed with both runners.
func TestAccept_AK3_WhatIsHiddenFromJavaScript(t *testing.T) {
	needRunners(t, "npm", "node")
	for runner, packages := range map[string][]string{"jest": {"jest@29", "jest-junit@16"}, "vitest": {"vitest@3"}} {
		t.Run(runner, func(t *testing.T) {
			dir, home := t.TempDir(), userWith(t)
			kinds := []hidden{
				{"variable", `process.env.SHOP_TOKEN`, "the test reads " + lacksToken},
				{"made_name", `(({ ["SHOP_" + "OTHER"]: v }) => v)(process.env)`, "the test reads " + lacksOther},
				{"of_child", `run("node", "tools/child.js")`, lacksToken},
				{"of_shell", `run("sh", "-c", "test $SHOP_TOKEN")`, "reads of_shell.test.js, which names " + lacksToken},
				{"file", `fs.existsSync("local/rates.json")`, lacksFile},
				{"home", `fs.existsSync(os.homedir() + "/.shop/token")`, lacksHome},
				{"program", `run("` + home + `/bin/rates")`, lacksTool},
				{"socket", `run("node", "tools/connect.js")`, "the test asks for the socket ~/s, which "},
				{"git", `run("git", "rev-parse", "HEAD")`, lacksGit},
				{"listed", `Object.entries(process.env).some(([k]) => k.endsWith("P_TOKEN"))`, "the test lists all variables in listed.test.js" + lacksList},
				{"copied", `"SHOP_" + "TOKEN" in { ...process.env }`, "the test lists all variables in copied.test.js" + lacksList},
				{"folder_listed", `fs.readdirSync("conf.d").includes("local.json")`, lacksConf},
				{"created", `fs.readFileSync(fs.openSync("local.db", "a+"), "utf8")`, lacksDB},
				{"passed_on", `spawnSync("false", { env: { ...process.env, A: "b" } }).status === 0`, ""},
				{"plain", `false`, ""},
				{"harmless", `fs.existsSync(os.homedir() + "/.npmrc")`, ""},
			}
			common := "const fs = require(\"fs\"), os = require(\"os\"), { spawnSync } = require(\"child_process\");\n"
			if runner == "vitest" {
				common = "import fs from \"fs\";\nimport os from \"os\";\nimport { spawnSync } from \"child_process\";\nimport { test } from \"vitest\";\n"
			}
			for _, k := range kinds {
				must.Write(t, dir, map[string]string{k.name + ".test.js": common + "const run = (...a) => spawnSync(a[0], a.slice(1)).status === 0;\n" +
					"test(\"it\", () => { if (!(" + k.code + ")) throw new Error(\"the rate is 0\"); });\n"})
			}
			must.Git(t, dir, "init", "-q", "-b", "main")
			must.Write(t, dir, map[string]string{
				".gitignore": "local*\nnode_modules\n", "package.json": `{"name": "shop", "version": "1.0.0", "devDependencies": {"` + runner + `": "*"}}`,
				"conf.d/base.json": "{}",
				"tools/child.js":   "process.exit(process.env.SHOP_TOKEN ? 0 : 1);\n",
				"tools/connect.js": "require(\"net\").connect(process.env.HOME + \"/s\").on(\"error\", () => process.exit(1)).on(\"connect\", () => process.exit(0));\n",
			})
			command(t, dir, "npm", append([]string{"install", "--no-audit", "--no-fund", "--no-save", "--no-package-lock", "--prefer-offline"}, packages...)...)
			must.Do(t, os.WriteFile(filepath.Join(home, ".npmrc"), nil, 0o600))
			lacksWhatIsHidden(t, dir, kinds, func(name string) *abi.Case {
				return &abi.Case{Group: name + ".test.js", Subject: "it fails in " + name + ".test.js", Documents: []abi.Document{{Name: "failure", Text: "Error: the rate is 0\n    at " + name + ".test.js:3:1\n"}}}
			})
		})
	}
}
