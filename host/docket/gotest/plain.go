package gotest

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
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
func (s *stream) plain(line string) {
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

// isSummary says whether a line is one that the go command ends a package with, or one of its progress.
func isSummary(line string) bool {
	for _, begin := range []string{"FAIL\t", "ok  \t", "?   \t", "go: downloading ", "go: finding ", "go: extracting "} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return line == "FAIL"
}

// around is the log that a line which is no event stands in: that of a package that is built, of the test or the package
// that printed last and has not ended, or of no package.
func (s *stream) around() *testlog.Clip {
	if s.section != nil {
		return s.section
	}
	p := s.packages[s.current.pack]
	if p == nil {
		return &s.loose
	}
	if t := p.tests[s.current.test]; t != nil && t.verdict == noVerdict {
		return &t.log
	}
	return &p.log
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
