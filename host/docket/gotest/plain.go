package gotest

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// maxUnreadLines is of how many lines that are no events the numbers are kept.
const maxUnreadLines = 5

// Unread tells of the lines of a stream that are neither events nor what the go command prints itself. They are kept as
// output, and may have come from any program that wrote into the stream.
type Unread struct {
	Count int
	// Lines are the numbers of the first of them.
	Lines []int
}

func (u *Unread) add(line int) {
	if u.Count++; len(u.Lines) < maxUnreadLines {
		u.Lines = append(u.Lines, line)
	}
}

// plain takes a line that is no event: the build output of Go before 1.24, or what something printed past the go command.
func (s *reading) plain(line string) {
	if path, ok := buildHeader(line); ok {
		s.section = s.build(path)
	}
	if path, ok := strings.CutPrefix(line, "FAIL\t"); ok && notBuilt(line) {
		s.section = nil
		path, _, _ = strings.Cut(path, " ")
		s.pack(path).log.Write(line + "\n")
		s.failPackage(s.pack(path), "")
		return
	}
	if isSummary(line) {
		s.section = nil
		return
	}
	if s.section == nil && strings.TrimSpace(line) != "" {
		s.unread.add(s.line)
	}
	s.around().Write(line + "\n")
}

// isSummary says whether a line is one that the go command ends a package with, or one of its progress and warnings, which
// explain no failure.
func isSummary(line string) bool {
	for _, begin := range []string{
		"FAIL\t", "ok  \t", "?   \t",
		"go: downloading ", "go: finding ", "go: found ", "go: extracting ", "go: added ", "go: removed ", "go: upgraded ", "go: downgraded ",
		"go: warning: ", "warning: no packages being tested depend on matches for pattern ", "warning: GOPATH set to GOROOT ",
	} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return line == "FAIL"
}

// around is the log that a line which is no event stands in: that of a package that is built, of the only test that runs,
// of the only package that runs, or of no package. Any program may have printed the line, so that with two to choose from
// there is no telling.
func (s *reading) around() *stream.Clip {
	if s.section != nil {
		return s.section
	}
	if len(s.packages) != 1 {
		return &s.loose
	}
	for _, p := range s.packages {
		if t := p.only(); t != nil {
			return &t.log
		}
		return &p.log
	}
	return &s.loose
}

// maxLooked is among how many open tests the one that runs is looked for.
const maxLooked = 256

// only is the test that runs in a package, if it is the only one: it began, does not wait and has not ended. A test that
// prints after its end is open again, and does not run.
func (p *pack) only() *test {
	if len(p.tests) > maxLooked {
		return nil
	}
	var found *test
	for _, name := range p.running() {
		switch t := p.tests[name]; {
		case !t.began || t.verdict != noVerdict:
		case found != nil:
			return nil
		default:
			found = t
		}
	}
	return found
}

// buildHeader reads the line that stands before a package's build errors, as "# example.com/a [example.com/a.test]".
func buildHeader(line string) (importPath string, ok bool) {
	rest, ok := strings.CutPrefix(line, "# ")
	if !ok {
		return "", false
	}
	path, variant, found := strings.Cut(rest, " ")
	return rest, path != "" && (!found || strings.HasPrefix(variant, "[") && strings.HasSuffix(variant, "]"))
}
