package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The bounds of a pattern: files that match it, and names that are looked at.
const (
	maxMatches = 10_000
	maxLooked  = 1_000_000
)

// Expand gives the files for names that are patterns and no files, sorted: for shells and CI that don't expand them. A pattern has *, ?
// and [a-z], which match within one name, and ** for any number of folders. As in a shell, a name that begins with a dot is matched
// by a pattern that does. A file that several patterns match is given once. An error names a pattern that is wrong, or that
// matches no file; all are named at once.
func Expand(ctx context.Context, names []string) ([]string, error) {
	var all []string
	var faults []error
	given := map[string]bool{}
	for _, name := range names {
		given[filepath.Clean(name)] = true
	}
	for _, name := range names {
		if !isPattern(name) {
			all = append(all, name)
			continue
		}
		matches, err := matching(ctx, name)
		if err != nil {
			faults = append(faults, err)
		}
		for _, match := range matches {
			if !given[match] {
				given[match] = true
				all = append(all, match)
			}
		}
	}
	return all, errors.Join(faults...)
}

// isPattern says whether a name has what a pattern has, and is no file.
func isPattern(name string) bool {
	if !strings.ContainsAny(name, "*?[") {
		return false
	}
	_, err := os.Lstat(name)
	return err != nil
}

// matching gives the files that match a pattern.
func matching(ctx context.Context, pattern string) ([]string, error) {
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("%s: the pattern is wrong: a [ has no end, or nothing between it and its end", pattern)
	}
	root := filepath.VolumeName(pattern)
	rest := pattern[len(root):]
	if rest != "" && os.IsPathSeparator(rest[0]) {
		root += string(filepath.Separator)
	}
	w := &matches{ctx: ctx, pattern: pattern}
	if err := w.below(root, strings.FieldsFunc(rest, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(byte(r)) })); err != nil {
		return nil, err
	}
	slices.Sort(w.files)
	if w.files = slices.Compact(w.files); len(w.files) > 0 {
		return w.files, nil
	}
	if w.folders > 0 {
		return nil, fmt.Errorf("%s matches folders and no file: a pattern for the files in them ends with /**/*.xml, or the like", pattern)
	}
	return nil, fmt.Errorf("no file matches %s", pattern)
}

// matches looks for the files of a pattern.
type matches struct {
	ctx     context.Context //nolint:containedctx // of one call of matching
	pattern string
	files   []string
	folders int
	looked  int
}

// below looks for the parts of the pattern that are left, in a folder.
func (w *matches) below(folder string, parts []string) error {
	if len(parts) == 0 {
		return nil
	}
	part, left := parts[0], parts[1:]
	if part != "**" && !strings.ContainsAny(part, "*?[") {
		return w.take(filepath.Join(folder, part), left)
	}
	entries, _ := os.ReadDir(orHere(folder)) // no folder, or one that can't be read, has no file for a pattern
	if w.looked += len(entries); w.looked > maxLooked {
		return fmt.Errorf("%s: more than %d names were looked at: begin the pattern with a folder", w.pattern, maxLooked)
	}
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if part == "**" {
		if len(left) == 0 {
			left = []string{"*"} // all files
		}
		if err := w.below(folder, left); err != nil {
			return err
		}
	}
	for _, e := range entries {
		var err error
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(part, ".")
		switch matched, _ := filepath.Match(part, e.Name()); {
		case hidden:
		case part == "**" && e.IsDir():
			err = w.below(filepath.Join(folder, e.Name()), parts)
		case part != "**" && matched:
			err = w.take(filepath.Join(folder, e.Name()), left)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take goes on in a folder that matches, or takes a file.
func (w *matches) take(name string, left []string) error {
	if len(left) > 0 {
		return w.below(name, left)
	}
	info, _ := os.Stat(name)
	switch {
	case info == nil: // it is gone, or no name at all
	case info.IsDir():
		w.folders++
	case len(w.files) == maxMatches:
		return fmt.Errorf("%s matches more than %d files", w.pattern, maxMatches)
	default:
		w.files = append(w.files, name)
	}
	return nil
}

func orHere(folder string) string {
	if folder == "" {
		return "."
	}
	return folder
}
