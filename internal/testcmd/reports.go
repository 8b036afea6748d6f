package testcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// maxReports is how many reports one run may write.
const maxReports = 20_000

// finder finds the reports that a run has written.
type finder struct {
	file     string // the report, if it is one file
	root     string
	patterns []string
}

// state is what tells whether a file was written.
type state struct {
	changed time.Time
	size    int64
}

func (c *Command) finder(folder string) *finder {
	f := &finder{file: c.plan.file, root: c.plan.root, patterns: c.plan.patterns}
	switch {
	case c.plan.stdout:
		f.file = filepath.Join(folder, "output.json")
	case f.file == reportPlace:
		f.file = filepath.Join(folder, "report")
	case f.file != "" && !filepath.IsAbs(f.file):
		f.file = filepath.Join(c.dir, f.file)
	}
	return f
}

// look gives the reports that are there, by their paths.
func (f *finder) look() (map[string]state, error) {
	found := map[string]state{}
	if f.file != "" {
		if info, err := os.Stat(f.file); err == nil && info.Mode().IsRegular() {
			found[f.file] = state{info.ModTime(), info.Size()}
		}
		return found, nil
	}
	err := filepath.WalkDir(f.root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // it may have gone meanwhile, or is not for us to read
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && file != f.root):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !slices.ContainsFunc(f.patterns, func(pattern string) bool { return matches(pattern, file) }):
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		if len(found) == maxReports {
			return fmt.Errorf("%s has more than %d reports: remove old ones, or run fewer tests at once", f.root, maxReports)
		}
		found[file] = state{info.ModTime(), info.Size()}
		return nil
	})
	return found, err
}

// matches says whether the end of a path matches a pattern.
func matches(pattern, file string) bool {
	parts := strings.Split(filepath.ToSlash(file), "/")
	n := strings.Count(pattern, "/") + 1
	if len(parts) < n {
		return false
	}
	ok, _ := path.Match(pattern, strings.Join(parts[len(parts)-n:], "/"))
	return ok
}

// written gives the reports that are not as they were before.
func (f *finder) written(before map[string]state) ([]string, error) {
	now, err := f.look()
	if err != nil {
		return nil, err
	}
	var paths []string
	for file, s := range now {
		if was, ok := before[file]; (!ok || was != s) && s.size > 0 {
			paths = append(paths, file)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// read reads the reports.
func (c *Command) read(ctx context.Context, ran *Ran, paths []string, folder string, take func(docket.Entry, error)) error {
	var err error
	left := c.limit()
	for _, file := range paths {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if left -= info.Size(); left < 0 {
			return c.tooLong()
		}
	}
	format := c.plan.format
	if format == formatJest {
		converted := filepath.Join(folder, "jest.xml")
		if err := convertJest(converted, paths[0], c.dir); err != nil {
			return err
		}
		paths, format = []string{converted}, run.JUnit
	}
	for i, file := range paths {
		if paths[i], err = filepath.Abs(file); err != nil {
			return err
		}
	}
	dockets, err := run.OpenDockets(ctx, nil, paths, format)
	if err != nil {
		return err
	}
	var fault error
	for entry, err := range dockets.Entries("") {
		switch _, ofLine := errors.AsType[*docket.LineError](err); {
		case err == nil:
			ran.Failures++
		case !ofLine:
			return err
		case fault == nil:
			fault = err
		}
		take(entry, err)
	}
	switch ran.Tests, ran.Notes = dockets.Tests, dockets.Notes(); {
	case ran.Tests > 0 || ran.Failures > 0:
	case fault != nil:
		return fmt.Errorf("the report of %s can't be read: %w", c.Runner, fault)
	case ran.ExitCode != 0:
		return fmt.Errorf("%s failed with exit code %d, and its report tells of no test: see its output", c.Runner, ran.ExitCode)
	}
	return nil
}
