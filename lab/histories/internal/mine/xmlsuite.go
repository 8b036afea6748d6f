package mine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// xmlSuite is a runner that writes JUnit XML: Maven Surefire, of projects with one module, or jest.
type xmlSuite struct {
	runner string
	// needs are the files that say what is installed; the first marks the runner.
	needs []string
	// get installs that outside of the isolation, without running code of the tree.
	get     func(ctx context.Context, folder, scratch string) error
	scratch string
	ready   string // what was installed last, by the contents of its files
}

func xmlSuites(scratch string) []*xmlSuite {
	return []*xmlSuite{
		{runner: "surefire", needs: []string{"pom.xml"}, get: resolveMaven, scratch: scratch},
		{runner: "jest", needs: []string{"package.json", "package-lock.json"}, get: installNode, scratch: scratch},
	}
}

func (x *xmlSuite) name() string { return x.runner }

func (x *xmlSuite) install(ctx context.Context, folder string) error {
	h := sha256.New()
	for _, name := range x.needs {
		text, _ := os.ReadFile(filepath.Join(folder, name)) // a tree may lack one
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	key := fmt.Sprintf("%x", h.Sum(nil))
	if x.ready == key {
		return nil
	}
	if err := x.get(ctx, folder, x.scratch); err != nil {
		return err
	}
	x.ready = key
	return nil
}

// resolveMaven lets Maven download what a tree needs, as far as the tests: in place of Java a program stands that does nothing.
func resolveMaven(ctx context.Context, folder, scratch string) error {
	nothing, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	java := filepath.Join(scratch, "bin", "java") // Surefire looks for these two names
	if err := errors.Join(os.MkdirAll(filepath.Dir(java), 0o755), os.RemoveAll(java), os.Symlink(nothing, java)); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "--batch-mode", "--quiet", "-Djvm="+java, "-Dmaven.test.failure.ignore=true", "test")
	cmd.Dir = folder
	cmd.WaitDelay = 5 * time.Second
	_ = cmd.Run() // what is missing then fails the run without a network
	return os.RemoveAll(filepath.Join(folder, "target"))
}

// installNode installs what the lock file of a tree says, without running scripts of packages, and the reporter.
func installNode(ctx context.Context, folder, _ string) error {
	for _, args := range [][]string{{"ci", "--ignore-scripts"}, {"install", "--ignore-scripts", "--no-save", "jest-junit@16"}} {
		cmd := exec.CommandContext(ctx, "npm", append(args, "--no-audit", "--no-fund", "--loglevel=error")...) //nolint:gosec // these two alone
		cmd.Dir = folder
		cmd.WaitDelay = 5 * time.Second
		if err := cmd.Run(); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
