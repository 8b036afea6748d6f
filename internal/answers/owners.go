package answers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/hmarr/codeowners"
)

// ownersPlaces are where the file may be. The first that is there counts, as on GitHub; only GitLab knows the last one.
var ownersPlaces = []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"}

// Limits of a CODEOWNERS file; GitHub reads 3 MB.
const (
	maxOwnersBytes = 3 << 20
	maxOwnersLine  = 8 << 10
	maxOwners      = 100 // of one path
)

// CodeOwners says who looks after a path by the repository's CODEOWNERS file, as GitHub and GitLab read it. The patterns are those of
// github.com/hmarr/codeowners. The file is untrusted: it is bounded, never read from outside of the repository, and a line that is wrong costs that
// line alone, as on GitHub. The nil value owns nothing. Safe for concurrent use.
type CodeOwners struct {
	// Name is its path from the top folder, with slashes.
	Name string
	// Faults name lines that are wrong and were passed over.
	Faults []error

	sections []*section
	named    map[string]*section // by name in lower case
}

// section is a part of a file with a heading, as GitLab has them. In each the last rule that matches counts, apart from the other sections.
type section struct {
	defaults []codeowners.Owner // of rules without owners
	rules    codeowners.Ruleset
}

// FindOwners reads the file of a repository, whose top folder dir is. Without one it returns nil.
func FindOwners(dir string) (*CodeOwners, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	for _, name := range ownersPlaces {
		info, err := root.Stat(name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		if err != nil {
			return nil, err
		}
		f, err := root.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		return parseOwners(name, f)
	}
	return nil, nil
}

// parseOwners reads a file; name is what messages call it.
func parseOwners(name string, r io.Reader) (*CodeOwners, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxOwnersBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxOwnersBytes {
		return nil, fmt.Errorf("%s has more than %d MiB", name, maxOwnersBytes>>20)
	}
	f := &CodeOwners{Name: name, sections: []*section{{}}, named: map[string]*section{}}
	now, number, more := f.sections[0], 0, 0
	for line := range bytes.Lines(text) {
		number++
		err := f.line(&now, strings.TrimSpace(string(line)))
		switch {
		case err != nil && len(f.Faults) < maxFaults:
			f.Faults = append(f.Faults, fmt.Errorf("%s:%d: %w", name, number, err))
		case err != nil:
			more++
		}
	}
	if more > 0 {
		f.Faults = append(f.Faults, fmt.Errorf("%s: %d more lines are wrong", name, more))
	}
	return f, nil
}

// heading of a section: [Name], ^[Optional name], [Name][2] for two approvals; behind it the owners of rules that name none.
var heading = regexp.MustCompile(`^\^?\[([^\]]+)\](?:\[\d+\])?(?:\s+(.*))?$`)

// line reads a line; now is the section that it is in.
func (f *CodeOwners) line(now **section, line string) error {
	switch {
	case line == "" || line[0] == '#':
		return nil
	case len(line) > maxOwnersLine:
		return fmt.Errorf("the line has more than %d bytes", maxOwnersLine)
	}
	if m := heading.FindStringSubmatch(line); m != nil {
		*now = f.section(m[1])
		rules, err := parseRule("* " + m[2])
		if err == nil && len(rules) == 1 && len(rules[0].Owners) > 0 {
			(*now).defaults = rules[0].Owners
		}
		return err
	}
	rules, err := parseRule(line)
	if err == nil && len(rules) == 1 && rules[0].RawPattern() != "/" { // it matches nothing, and the library panics on it
		(*now).rules = append((*now).rules, rules...)
	}
	return err
}

// section is the one of a name, in which case does not count. A name that comes again continues its section.
func (f *CodeOwners) section(name string) *section {
	name = strings.ToLower(name)
	if f.named[name] == nil {
		f.named[name] = &section{}
		f.sections = append(f.sections, f.named[name])
	}
	return f.named[name]
}

func parseRule(line string) (codeowners.Ruleset, error) {
	rules, err := codeowners.ParseFile(strings.NewReader(line), codeowners.WithOwnerMatchers([]codeowners.OwnerMatcher{codeowners.OwnerMatchFunc(owner)}))
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "line 1: "))
	}
	return rules, nil
}

// owner takes what GitLab has beside GitHub's owners, too: nested groups (@group/sub/team) and roles (@@developer).
func owner(s string) (codeowners.Owner, error) {
	rest, name := strings.CutPrefix(s, "@")
	switch {
	case name && strings.Trim(rest, "@/") != "":
		return codeowners.Owner{Value: rest, Type: codeowners.TeamOwner}, nil
	case !name && strings.Contains(s, "@"):
		return codeowners.Owner{Value: s, Type: codeowners.EmailOwner}, nil
	}
	return codeowners.Owner{}, codeowners.ErrNoMatch
}

// Of gives the owners of a path, which is from the top folder and has slashes: @user, @org/team or an address, each once, at most 100. A path
// without an owner has none.
func (f *CodeOwners) Of(path string) []string {
	if f == nil || path == "" {
		return nil
	}
	var all []string
	seen := map[string]bool{}
	for _, s := range f.sections {
		rule, err := s.rules.Match(path)
		if err != nil || rule == nil {
			continue
		}
		found := rule.Owners
		if len(found) == 0 {
			found = s.defaults
		}
		for _, o := range found {
			if name := o.String(); !seen[name] && len(all) < maxOwners {
				seen[name] = true
				all = append(all, name)
			}
		}
	}
	return all
}
