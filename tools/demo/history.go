package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

const module = "github.com/google/uuid"

// releases are the versions with their dates, oldest first. The dates stand here, since not every module proxy tells them alike.
func releases() []release {
	return []release{
		{"v1.0.0", "2018-08-27T20:42:32Z"},
		{"v1.1.0", "2018-09-17T14:00:05Z"},
		{"v1.1.1", "2019-02-27T21:05:49Z"},
		{"v1.1.2", "2020-07-02T18:56:42Z"},
		{"v1.1.3", "2020-12-30T19:35:21Z"},
		{"v1.1.4", "2021-01-04T19:17:18Z"},
		{"v1.1.5", "2021-01-15T00:27:13Z"},
		{"v1.2.0", "2021-01-22T18:20:15Z"},
		{"v1.3.0", "2021-07-12T22:33:52Z"},
		{"v1.3.1", "2023-08-21T16:29:15Z"},
		{"v1.4.0", "2023-10-26T15:24:04Z"},
		{"v1.5.0", "2023-12-12T17:21:37Z"},
		{"v1.6.0", "2024-01-23T18:54:04Z"},
	}
}

type release struct{ version, date string }

// patches are commits on top of the releases, as `git am` takes them: patches/main belongs to main, patches/change to the change.
//
//go:embed patches
var patches embed.FS

// build commits the releases and the patches, and gives the commits of the patches by their names.
func build(ctx context.Context, r repository) (map[string]string, error) {
	dirs, err := download(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := r.git(ctx, nil, "init", "-q", "--template=", "--object-format=sha1", "-b", "main", "."); err != nil {
		return nil, err
	}
	for _, release := range releases() {
		if err := r.release(ctx, release, dirs[release.version]); err != nil {
			return nil, err
		}
	}
	if _, err := r.git(ctx, nil, "reset", "-q", "--hard"); err != nil {
		return nil, err
	}
	commits := map[string]string{}
	if err := r.apply(ctx, "patches/main", commits); err != nil {
		return nil, err
	}
	if _, err := r.git(ctx, nil, "checkout", "-q", "-b", "change"); err != nil {
		return nil, err
	}
	return commits, r.apply(ctx, "patches/change", commits)
}

// download has the Go command fetch all releases, and gives their folders. It runs outside of every module, whose go.mod it would change.
func download(ctx context.Context) (dirs map[string]string, err error) {
	outside, err := os.MkdirTemp("", "demo")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(outside)
	args := []string{"mod", "download", "-json"}
	for _, release := range releases() {
		args = append(args, module+"@"+release.version)
	}
	answer, err := command(ctx, outside, nil, []string{"GOFLAGS=-mod=mod", "GOWORK=off"}, "go", args...)
	dirs = map[string]string{}
	for lines := json.NewDecoder(bytes.NewReader(answer)); lines.More(); {
		var one struct {
			Version string `json:"Version"`
			Dir     string `json:"Dir"`
			Error   string `json:"Error"`
		}
		if err := lines.Decode(&one); err != nil {
			return nil, fmt.Errorf("go mod download: %w", err)
		}
		if one.Error != "" {
			return nil, fmt.Errorf("%s: %s", one.Version, one.Error)
		}
		dirs[one.Version] = one.Dir
	}
	return dirs, err
}

// repository is the folder of a git repository.
type repository string

// release commits and tags the files of a version.
func (r repository) release(ctx context.Context, of release, dir string) error {
	for _, args := range [][]string{
		// The module cache may have been copied from another machine, with modes of its own.
		{"-c", "core.fileMode=false", "--work-tree=" + dir, "add", "-A", "-f", "."},
		{"--work-tree=" + dir, "commit", "-q", "--author=" + module + " <uuid@example.com>", "--date=" + of.date, "-m", of.version},
		{"tag", of.version},
	} {
		if _, err := r.git(ctx, nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// apply commits the patches of a folder, and notes their commits.
func (r repository) apply(ctx context.Context, folder string, commits map[string]string) error {
	entries, err := fs.ReadDir(patches, folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		patch, err := fs.ReadFile(patches, path.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		// git am applies a patch where the text is exactly as expected, or not at all.
		if _, err := r.git(ctx, patch, "am", "-q", "--committer-date-is-author-date"); err != nil {
			return fmt.Errorf("%s: %w", entry.Name(), err)
		}
		commit, err := r.git(ctx, nil, "rev-parse", "HEAD")
		if err != nil {
			return err
		}
		commits[strings.TrimSuffix(entry.Name(), ".patch")] = strings.TrimSpace(string(commit))
	}
	return nil
}

// git runs git without the user's configuration. The committer and the date are fixed, so that commits have the same ids everywhere.
func (r repository) git(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return command(ctx, string(r), stdin, []string{
		"GIT_DIR=.git", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"XDG_CONFIG_HOME=" + os.DevNull, "LC_ALL=C",
		"GIT_COMMITTER_NAME=demo", "GIT_COMMITTER_EMAIL=demo@example.com", "GIT_COMMITTER_DATE=2024-02-01T00:00:00Z",
	}, "git", args...)
}

// command runs a program and gives its output, with the error if it failed. It has the user's environment but for git's variables, with
// env in addition.
func command(ctx context.Context, dir string, stdin []byte, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, err
}
