package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

const module = "github.com/google/uuid"

// versions are the releases, oldest first.
func versions() []string {
	return []string{
		"v1.0.0", "v1.1.0", "v1.1.1", "v1.1.2", "v1.1.3", "v1.1.4", "v1.1.5", "v1.2.0", "v1.3.0", "v1.3.1", "v1.4.0", "v1.5.0", "v1.6.0",
	}
}

// patches are commits on top of the releases, as `git am` takes them: patches/main belongs to main, patches/change to the change.
//
//go:embed patches
var patches embed.FS

// history is the repository's.
type history struct {
	base, head string
	commits    map[string]string // of the patches, by their names
}

// build commits the releases and the patches.
func build(ctx context.Context, r repository) (*history, error) {
	releases, err := download(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := r.git(ctx, nil, "init", "-q", "--template=", "--object-format=sha1", "-b", "main", "."); err != nil {
		return nil, err
	}
	for _, release := range releases {
		if err := r.release(ctx, release); err != nil {
			return nil, err
		}
	}
	if _, err := r.git(ctx, nil, "reset", "-q", "--hard"); err != nil {
		return nil, err
	}
	h := &history{commits: map[string]string{}}
	if h.base, err = r.apply(ctx, "patches/main", h.commits); err != nil {
		return nil, err
	}
	if _, err := r.git(ctx, nil, "checkout", "-q", "-b", "change"); err != nil {
		return nil, err
	}
	h.head, err = r.apply(ctx, "patches/change", h.commits)
	return h, err
}

// release is what `go mod download -json` says of a version.
type release struct {
	Version string `json:"Version"`
	Dir     string `json:"Dir"`
	Info    string `json:"Info"`
	Error   string `json:"Error"`
}

// download has the Go command fetch all releases. It runs outside of every module, whose go.mod it would change.
func download(ctx context.Context) ([]release, error) {
	outside, err := os.MkdirTemp("", "demo")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(outside)
	args := []string{"mod", "download", "-json"}
	for _, version := range versions() {
		args = append(args, module+"@"+version)
	}
	answer, err := command(ctx, outside, nil, []string{"GOFLAGS=-mod=mod", "GOWORK=off"}, "go", args...)
	var releases []release
	for lines := json.NewDecoder(strings.NewReader(string(answer))); lines.More(); {
		var one release
		if err := lines.Decode(&one); err != nil {
			return nil, fmt.Errorf("go mod download: %w", err)
		}
		if one.Error != "" {
			return nil, fmt.Errorf("%s: %s", one.Version, one.Error)
		}
		releases = append(releases, one)
	}
	return releases, err
}

// repository is the folder of a git repository.
type repository string

// release commits and tags what the module cache has of a version, with the date that the proxy tells.
func (r repository) release(ctx context.Context, of release) error {
	info, err := os.ReadFile(of.Info)
	if err != nil {
		return err
	}
	var published struct {
		Time time.Time `json:"Time"`
	}
	if err := json.Unmarshal(info, &published); err != nil {
		return fmt.Errorf("%s: %w", of.Info, err)
	}
	date := published.Time.UTC().Format(time.RFC3339)
	for _, args := range [][]string{
		{"--work-tree=" + of.Dir, "add", "-A", "-f", "."},
		{"--work-tree=" + of.Dir, "commit", "-q", "--author=" + module + " <uuid@example.com>", "--date=" + date, "-m", of.Version},
		{"tag", of.Version},
	} {
		if _, err := r.git(ctx, nil, args...); err != nil {
			return err
		}
	}
	return nil
}

// apply commits the patches of a folder, notes their commits, and gives the last.
func (r repository) apply(ctx context.Context, folder string, commits map[string]string) (string, error) {
	entries, err := fs.ReadDir(patches, folder)
	if err != nil {
		return "", err
	}
	last := ""
	for _, entry := range entries {
		patch, err := fs.ReadFile(patches, path.Join(folder, entry.Name()))
		if err != nil {
			return "", err
		}
		// git am applies a patch where the text is exactly as expected, or not at all.
		if _, err := r.git(ctx, patch, "am", "-q", "--committer-date-is-author-date"); err != nil {
			return "", fmt.Errorf("%s: %w", entry.Name(), err)
		}
		commit, err := r.git(ctx, nil, "rev-parse", "HEAD")
		if err != nil {
			return "", err
		}
		last = strings.TrimSpace(string(commit))
		commits[strings.TrimSuffix(entry.Name(), ".patch")] = last
	}
	return last, nil
}

// git runs git without the user's configuration. The committer and the date are fixed, so that commits have the same ids everywhere.
func (r repository) git(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return command(ctx, string(r), stdin, []string{
		"GIT_DIR=.git", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_COMMITTER_NAME=demo", "GIT_COMMITTER_EMAIL=demo@example.com", "GIT_COMMITTER_DATE=2024-02-01T00:00:00Z",
	}, "git", args...)
}
