package experiment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// The bounds of what a run reports.
const (
	maxReports     = 1000
	maxReportBytes = 32 << 20
)

// reports reads what a run has written: the file in the scratch folder, and files of the project in the folder that has them. Tests
// may have put anything there: only plain files within the folders are read.
func (r *defined) reports(t *projectTest, scratch, written string) ([]byte, error) {
	var all bytes.Buffer
	for _, pattern := range r.definition.Reports {
		folder, pattern := written, path.Join(t.project, pattern)
		if strings.HasSuffix(pattern, reportPlaceholder) {
			folder, pattern = scratch, reportName
		}
		if err := readAll(&all, folder, pattern); err != nil {
			return nil, err
		}
	}
	return all.Bytes(), nil
}

func readAll(all *bytes.Buffer, folder, pattern string) error {
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	names, err := glob(root.FS(), pattern)
	if err != nil {
		return err
	}
	if len(names) > maxReports {
		return fmt.Errorf("there are more than %d", maxReports)
	}
	for _, name := range names {
		text, err := plainFileIn(root, filepath.FromSlash(name), maxReportBytes-all.Len())
		switch {
		case errors.Is(err, errTooLarge):
			return fmt.Errorf("it has more than %d bytes", maxReportBytes)
		case errors.Is(err, errNotPlain):
			continue
		case err != nil:
			return err
		}
		all.Write(text)
	}
	return nil
}

// What can't be read of that which a test has written.
var (
	errNotPlain = errors.New("no plain file")
	errTooLarge = errors.New("the file is too large")
)

// plainFile reads a file within a folder in which a test may have put anything. The error is errNotPlain, errTooLarge or that of reading.
func plainFile(folder, name string, limit int) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return plainFileIn(root, name, limit)
}

func plainFileIn(root *os.Root, name string, limit int) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, errNotPlain
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, errNotPlain
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err = errors.Join(err, f.Close()); err == nil && len(text) > limit {
		err = errTooLarge
	}
	return text, err
}

// glob is fs.Glob, in which ** as the first folder stands for any number of folders.
func glob(fsys fs.FS, pattern string) ([]string, error) {
	before, after, deep := strings.Cut(pattern, "**/")
	if !deep {
		return fs.Glob(fsys, pattern)
	}
	var found []string
	start := path.Clean("./" + before)
	err := fs.WalkDir(fsys, start, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what can't be read has no report
		}
		for tail := name; !entry.IsDir(); {
			if ok, err := path.Match(after, tail); ok || err != nil {
				found = append(found, name)
				return err
			}
			var more bool
			if _, tail, more = strings.Cut(tail, "/"); !more {
				break
			}
		}
		return nil
	})
	return found, err
}

// read tells what came of the test in reports. A report that ends early tells what stands before its end.
func (t *projectTest) read(reports []byte) (kind, []abi.Document) {
	came, documents := t.readOf(reports, t.is)
	if came == kindAbsent && t.selection.whole() && t.tells(reports) { // a file is in reports where it does not load or a hook fails
		came = kindPassed
	}
	return came, documents
}

// tells says whether reports tell of any test.
func (t *projectTest) tells(reports []byte) bool {
	came, _ := t.readOf(reports, func(junit.Test) bool { return true })
	return came != kindAbsent
}

// all says whether the tests around this one are those of the whole project.
func (t *projectTest) all() bool {
	folder := t.values["folder"]
	return len(folder) > 0 && folder[0] == ""
}

// readRows tells what came of all rows of the test.
func (t *projectTest) readRows(reports []byte) (kind, []abi.Document) {
	return t.readOf(reports, func(test junit.Test) bool {
		return (test.Class == t.test.Class || !strings.Contains(t.selection.Report, "{class}")) && t.rows.MatchString(test.Name)
	})
}

func (t *projectTest) readOf(reports []byte, is func(junit.Test) bool) (kind, []abi.Document) {
	came := kindAbsent
	reader := junit.Reader{Ended: func(test junit.Test, end junit.End) {
		if is(test) {
			came = worse(came, end)
		}
	}}
	var documents []abi.Document
	for entry, err := range reader.Read(t.test.Name, bytes.NewReader(reports)) {
		if err != nil {
			break
		}
		if test, ok := junit.Named(&entry.Case); ok && is(test) && (len(documents) == 0 || t.selection.Report != "{class}") {
			// jest-junit tells twice of a file that does not load, by the same class; reports are read by what it tells first.
			documents = append(documents, entry.Case.Documents...)
		}
	}
	if came != kindFailed {
		return came, nil
	}
	return came, documents
}

// is says whether a test of a report is this one.
func (t *projectTest) is(test junit.Test) bool {
	if file := t.path(); t.whole != nil && file != "" && test.File != "" && !ends(file, test.File) && !ends(test.File, file) {
		return false // a test of this name in another file
	}
	name, err := expandOne(t.selection.Report, map[string][]string{"class": {test.Class}, "name": {test.Name}})
	return err == nil && slices.Contains(t.names, strings.TrimSpace(name))
}

// ends says whether a path ends with another one, which may begin with dots.
func ends(file, with string) bool {
	return strings.HasSuffix("/"+file, path.Clean("/"+filepath.ToSlash(with)))
}

// worse is what came of a test that may stand in a report several times.
func worse(came kind, end junit.End) kind {
	switch {
	case end == junit.Failed || came == kindFailed:
		return kindFailed
	case end == junit.Passed || came == kindPassed:
		return kindPassed
	}
	return kindSkipped
}
