package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// keylessDir is the folder of the program for keyless signatures, a Go module that requires none of ours.
const keylessDir = "cmd/shadowcourt-keyless"

// bundleDir is the folder of the nested Go module that holds the built modules.
const bundleDir = "host/bundle"

type release struct {
	root, version, out string
	progress           io.Writer

	head   string
	date   time.Time // of HEAD's commit
	clone  git
	mainGo module.Version
	bundle module.Version
}

func (r *release) run(ctx context.Context) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "shadowcourt-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	r.clone = git{dir: filepath.Join(temporary, "tree")}

	r.say("copying %s", r.head)
	if err := r.checkOut(ctx); err != nil {
		return err
	}
	r.say("building the modules")
	if err := goCommand(ctx, r.clone.dir, "run", "-trimpath", "./tools/buildmodules"); err != nil {
		return err
	}
	p := &proxy{dir: filepath.Join(r.out, "proxy"), date: r.date}
	if err := p.add(r.bundle, filepath.Join(r.clone.dir, filepath.FromSlash(bundleDir)), func(w io.Writer) error {
		return modzip.CreateFromDir(w, r.bundle, filepath.Join(r.clone.dir, filepath.FromSlash(bundleDir)))
	}); err != nil {
		return err
	}
	if err := r.requireBundle(p); err != nil {
		return err
	}
	commit, err := r.commit(ctx)
	if err != nil {
		return err
	}
	if err := p.add(r.mainGo, r.clone.dir, func(w io.Writer) error {
		return modzip.CreateFromVCS(w, r.mainGo, r.clone.dir, commit, "")
	}); err != nil {
		return err
	}
	keyless := module.Version{Path: r.mainGo.Path + "/" + keylessDir, Version: r.version}
	if err := p.add(keyless, filepath.Join(r.clone.dir, filepath.FromSlash(keylessDir)), func(w io.Writer) error {
		return modzip.CreateFromVCS(w, keyless, r.clone.dir, commit, keylessDir)
	}); err != nil {
		return err
	}
	tags := []string{r.version, bundleDir + "/" + r.version, keylessDir + "/" + r.version}
	if err := r.tag(ctx, commit, tags); err != nil {
		return err
	}
	r.say("tagged %s as %s; the proxy is %s", commit, strings.Join(tags, ", "), p.dir)
	r.say("publish it with: git push origin %s", strings.Join(tags, " "))
	return nil
}

// prepare reads what the release is made of. Changes that are not committed would be missing in it.
func (r *release) prepare(ctx context.Context) error {
	own := git{dir: r.root}
	top, err := own.output(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	r.root = top
	changed, err := own.output(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("a release is made of HEAD, and these files are not committed:\n%s", changed)
	}
	if r.head, err = own.output(ctx, "rev-parse", "HEAD"); err != nil {
		return err
	}
	date, err := own.output(ctx, "show", "-s", "--format=%cI", "HEAD")
	if err != nil {
		return err
	}
	if r.date, err = time.Parse(time.RFC3339, date); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return err
	}
	path := modfile.ModulePath(text)
	r.mainGo = module.Version{Path: path, Version: r.version}
	r.bundle = module.Version{Path: path + "/" + bundleDir, Version: r.version}
	return nil
}

// checkOut clones the repository, so that the user's work tree and index stay as they are.
func (r *release) checkOut(ctx context.Context) error {
	if err := (git{}).run(ctx, "clone", "--quiet", "--shared", "--no-checkout", r.root, r.clone.dir); err != nil {
		return err
	}
	return r.clone.run(ctx, "-c", "core.autocrlf=false", "checkout", "--quiet", "--detach", r.head)
}

// requireBundle makes go.mod and go.sum of the release name the published bundle in place of the local folder: `go install`
// rejects a go.mod with replacements.
func (r *release) requireBundle(p *proxy) error {
	name := filepath.Join(r.clone.dir, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := modfile.Parse(name, text, nil)
	if err != nil {
		return err
	}
	if err := f.DropReplace(r.bundle.Path, ""); err != nil {
		return err
	}
	if err := f.AddRequire(r.bundle.Path, r.version); err != nil {
		return err
	}
	f.Cleanup()
	if text, err = f.Format(); err != nil {
		return err
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		return err
	}
	sums, err := p.sums(r.bundle)
	if err != nil {
		return err
	}
	return addLines(filepath.Join(r.clone.dir, "go.sum"), sums)
}

// commit commits the release as HEAD's committer at HEAD's date, so that the commit has the same hash wherever it is made.
func (r *release) commit(ctx context.Context) (string, error) {
	who, err := r.clone.output(ctx, "show", "-s", "--format=%cn%n%ce%n%cI", "HEAD")
	if err != nil {
		return "", err
	}
	lines := strings.SplitN(who, "\n", 3)
	if len(lines) != 3 {
		return "", fmt.Errorf("HEAD has no committer: %q", who)
	}
	committer := r.clone
	for _, role := range []string{"AUTHOR", "COMMITTER"} {
		committer.env = append(committer.env, "GIT_"+role+"_NAME="+lines[0], "GIT_"+role+"_EMAIL="+lines[1], "GIT_"+role+"_DATE="+lines[2])
	}
	for _, args := range [][]string{
		{"add", "go.mod", "go.sum"},
		{"add", "--force", bundleDir + "/dist"},
		{"-c", "commit.gpgsign=false", "commit", "--quiet", "--no-verify", "--message", "Release " + r.version},
	} {
		if err := committer.run(ctx, args...); err != nil {
			return "", err
		}
	}
	return r.clone.output(ctx, "rev-parse", "HEAD")
}

// tag brings the commit into the user's repository and tags it there. A tag of the same commit stays.
func (r *release) tag(ctx context.Context, commit string, tags []string) error {
	own := git{dir: r.root}
	if err := own.run(ctx, "fetch", "--quiet", "--no-tags", r.clone.dir, commit); err != nil {
		return err
	}
	for _, tag := range tags {
		there, err := own.output(ctx, "rev-parse", "--verify", "--quiet", "refs/tags/"+tag+"^{commit}")
		switch {
		case err == nil && there == commit:
			continue
		case err == nil:
			return fmt.Errorf("the tag %s is already at %s; choose another version, or delete it if it was not published", tag, there)
		}
		if err := own.run(ctx, "tag", "--no-sign", tag, commit); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) say(format string, args ...any) { fmt.Fprintf(r.progress, format+"\n", args...) }
