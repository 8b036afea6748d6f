package experiment

import "testing"

// TestAccept_AK6_WhatManifestsSay: what changes without another installation is no difference.
func TestAccept_AK6_WhatManifestsSay(t *testing.T) {
	lock := func(own, version string) string {
		return `{"version": "` + own + `", "packages": {"": {"version": "` + own + `"}, "node_modules/rates": {"version": "` + version + `"}}}`
	}
	for _, c := range []struct {
		name, file, old, now string
		same                 bool
	}{
		{"a variable of a script", "package.json", `{"scripts": {"test": "A=b jest"}}`, `{"scripts": {"test": "A=c jest"}}`, false},
		{"scripts and version", "package.json", `{"version": "1", "scripts": {"a": "b"}, "dependencies": {"x": "1"}}`, `{"dependencies": {"x": "1"}, "version": "2"}`, true},
		{"a dependency", "package.json", `{"dependencies": {"x": "1"}}`, `{"dependencies": {"x": "2"}}`, false},
		{"one of the development", "package.json", `{}`, `{"devDependencies": {"x": "2"}}`, false},
		{"a package manager", "package.json", `{"packageManager": "pnpm@9"}`, `{"packageManager": "pnpm@10"}`, false},
		{"broken", "package.json", `{`, `{{`, false},
		{"the lock's own version", "package-lock.json", lock("1", "1.0.0"), lock("2", "1.0.0"), true},
		{"a locked version", "package-lock.json", lock("1", "1.0.0"), lock("1", "1.0.1"), false},
		{"a lock of Yarn", "yarn.lock", "rates@^1:\n  version \"1.0.0\"\n", "rates@^1:\n  version \"1.0.1\"\n", false},
		{"a lock of Poetry", "poetry.lock", "[[package]]\nname = \"rates\"\nversion = \"1.0.0\"\n", "[[package]]\nname = \"rates\"\nversion = \"1.0.1\"\n", false},
		{"options", "setup.cfg", "[metadata]\nversion = 1\n[options]\ninstall_requires = x\n", "[metadata]\nversion = 2\n[options]\ninstall_requires = y\n", false},
		{"metadata", "setup.cfg", "[metadata]\nversion = 1\n[flake8]\na = 1\n[options]\ninstall_requires = x\n", "[metadata]\nversion = 2\n[options]\ninstall_requires = x\n", true},
		{"a script", "setup.py", "setup(\n    version=\"1\",\n    install_requires=[\"x\"],\n)\n", "setup(\n    version=\"2\",\n    install_requires=[\"x\"],\n)\n", true},
		{"groups", "pyproject.toml", "[dependency-groups]\ntest = [\"a\"]\n", "[dependency-groups]\ntest = [\"b\"]\n", false},
		{"settings of a tool", "pyproject.toml", "[tool.pytest.ini_options]\na = 1\n", "[tool.pytest.ini_options]\na = 2\n", true},
		{"dependencies of Poetry", "pyproject.toml", "[tool.poetry.dependencies]\na = \"1\"\n", "[tool.poetry.dependencies]\na = \"2\"\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if same := dependencies(c.file, c.old) == dependencies(c.file, c.now); same != c.same {
				t.Errorf("the same: %v", same)
			}
		})
	}
}
