package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/repo"
)

// looks is how a failure is recognized: what was written that says what failed, literally but for what runners print themselves.
type looks struct {
	parts   []string // excerpts that say what failed, or the lines of the log where there are none. Places are FILE:LINE.
	timeout bool
	log     string // its first lines
}

var (
	// aboutText are documents that say of a test what is no part of its failure, and printedText those with what it printed, or with failures of
	// reruns in the same report.
	aboutText   = regexp.MustCompile(`^(?:testcase|runs|omitted)$`)
	printedText = regexp.MustCompile(`^(?:rerun|flaky)(?:Failure|Error)|(?:^|/)(?:system-(?:out|err)|(?:error-)?output)(?:-\d+)?$`)
	// backtrace is that of a panic in Rust, or the note where there is none, and what Go shows of frames with GOTRACEBACK=system.
	backtrace = regexp.MustCompile(`(?m)^stack backtrace:\n(?:[ \t]+.*\n)*|^note: (?:run with|Some details are omitted, run with) .RUST_BACKTRACE=.*$|` +
		` fp=0x[0-9a-f]+ sp=0x[0-9a-f]+ pc=0x[0-9a-f]+$`)
	// noise are lines that say nothing of a failure: headings and ends of tests, what this host writes where it cuts, and where pytest shows the whole
	// environment.
	noise = regexp.MustCompile(`^\s*(?:=== (?:RUN|PAUSE|CONT|NAME) |--- (?:FAIL|PASS|SKIP): )|^(?:FAIL|PASS)$|^(?:FAIL|ok)\t|^exit status \d|` +
		`^\[\.\.\. \d+ (?:bytes|more outputs) cut here \.\.\.\]$|^E\s+\+\s+(?:where|and) .*\benviron\(\{`)
	// verbose begins what pytest shows with some of its options alone, up to where a value came from.
	verbose   = regexp.MustCompile(`^E\s+(?:Full diff:|Use -v to get |\.\.\.Full output truncated)`)
	valueFrom = regexp.MustCompile(`^E\s+\+\s+(?:where|and) `)
	// arguments are those of a frame of Go, whose file is on the line below.
	arguments   = regexp.MustCompile(`\((?:\.\.\.|[0-9a-fx{}, ?.]*)\)$`)
	goFrameFile = regexp.MustCompile(`^\t\S.*\.go:\d+`)
)

// printed is what runners and runtimes print of one run: addresses, numbers of threads, hashes of objects, durations, and how errors are indented.
var printed = []struct {
	*regexp.Regexp
	without string
}{
	{regexp.MustCompile(`^E\s+(?:AssertionError: (assert ))?`), "E $1"},
	{regexp.MustCompile(`^(\S+\.py:\d+): (?:in .*|[\w.]+)$`), "$1"},
	{regexp.MustCompile(` \+0x[0-9a-f]+$`), ""},
	{regexp.MustCompile(`\b0x0*c0[0-9a-f]{8}\b|\bat 0x[0-9a-f]+`), "0x"},
	{regexp.MustCompile(`(^[Gg]oroutine|\b(?:by|in) goroutine) \d+`), "$1"},
	{regexp.MustCompile(`@[0-9a-f]{5,8}([^\w.]|$)`), "@$1"},
	{regexp.MustCompile(`^(thread '.*') \(\d+\) panicked`), "$1 panicked"},
	{regexp.MustCompile(`\b(finished in )[\d.]+s`), "$1"},
	{regexp.MustCompile(`^([\s\x{a0}]*[-+])\x{a0}`), "$1 "}, // go-cmp draws its blanks by the second
	{regexp.MustCompile(` ?\((?:\d+(?:\.\d+)?(?:ns|[uµμ]s|ms|s|m|h) ?)+\)$`), ""},
}

// mostParts bounds what is compared, from the end, and mostLearned the failures in which differences are looked for.
const mostParts, mostLearned = 1000, 50

// looksOf takes the looks of a failure from its documents. group is the package, class or suite of the test; roots are folders of the tree.
func looksOf(group string, documents []abi.Document, moved func(file string, line int) (string, int), roots ...string) looks {
	var reported, all []abi.Document
	var log strings.Builder
	for _, d := range documents {
		if aboutText.MatchString(d.Name) {
			continue
		}
		log.WriteString(d.Text)
		d.Text = backtrace.ReplaceAllString(casebook.Plain(d.Text), "")
		for _, root := range roots {
			d.Text = strings.ReplaceAll(d.Text, root+"/", "")
		}
		if all = append(all, d); !printedText.MatchString(d.Name) {
			reported = append(reported, d)
		}
	}
	if len(reported) == 0 {
		reported = all
	}
	symptoms := gotest.Symptoms(group, reported)
	if len(symptoms) == 0 {
		for i := range reported {
			symptoms = append(symptoms, strings.Split(reported[i].Text, "\n")...)
		}
	}
	l := looks{log: firstLines(log.String())}
	for _, s := range symptoms[max(0, len(symptoms)-mostParts):] {
		l.timeout = l.timeout || strings.Contains(s, "panic: test timed out after ")
		if part := partOf(s, moved); part != "" {
			l.parts = append(l.parts, part)
		}
	}
	return l
}

func partOf(text string, moved func(file string, line int) (string, int)) string {
	var kept []string
	left := false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		left = (left || verbose.MatchString(line)) && !valueFrom.MatchString(line)
		if left || noise.MatchString(line) {
			continue
		}
		if i+1 < len(lines) && goFrameFile.MatchString(lines[i+1]) {
			line = arguments.ReplaceAllString(line, "()")
		}
		line = withPlaces(line, moved)
		for _, p := range printed {
			line = p.ReplaceAllString(line, p.without)
		}
		if line = strings.TrimSpace(casebook.Portable(line)); line != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// withPlaces leaves of the places in a line the name of the file and the line in the tree under test.
func withPlaces(text string, moved func(file string, line int) (string, int)) string {
	var b strings.Builder
	last := 0
	for p := range sourcefile.Places(text) {
		file, line := p.Path, p.Line
		if moved != nil {
			file, line = moved(file, line)
		}
		fmt.Fprintf(&b, "%s%s:%d", text[last:p.Start], path.Base(file), line)
		last = p.End
	}
	return b.String() + text[last:]
}

// maxMoved is the largest file that is compared to find where its lines went.
const maxMoved = 1 << 20

// moves maps the places of a tree to those of the tree under test; nil where they are the same. Changed lines are numbered as those in place of
// them: if there are as many, one by one, else as the line there that the report names. A merge is what its report is about.
func (l *Lab) moves(ctx context.Context, w *workspace, f *failure, e abi.Experiment) func(file string, line int) (string, int) {
	head := l.trees[revisions{abi.Head, abi.Head}]
	if w == head || e.Product == abi.Merge {
		return nil
	}
	changed, edits, files, names := head.tree.Changed(w.tree), map[string][]repo.Edit{}, map[string]string{}, map[string]string{}
	reported := " " + placesOf(strings.Join(f.looks.parts, "\n"))
	folder := path.Join(f.goTest.module, f.goTest.folder)
	if f.project != nil {
		folder = f.project.project
	}
	line := func(name, file string, line int) int {
		for _, h := range slices.Backward(edits[file]) {
			switch {
			case line < h.OldFirst:
			case line >= h.OldFirst+h.OldLines:
				return line + h.NewFirst + h.NewLines - h.OldFirst - h.OldLines
			case h.OldLines == h.NewLines:
				return line + h.NewFirst - h.OldFirst
			default:
				for n := range h.NewLines {
					if strings.Contains(reported, fmt.Sprintf(" %s:%d ", path.Base(name), h.NewFirst+n)) {
						return h.NewFirst + n
					}
				}
				return 0 // the tree under test has no such line
			}
		}
		return line
	}
	return func(name string, at int) (string, int) {
		file, known := files[name]
		if !known {
			file = path.Join(folder, name)
			if _, ok := w.tree.File(file); !ok {
				for _, c := range changed { // a part of the path, or as Java has it the name alone
					if sourcefile.Same(c, name) {
						file = c
					}
				}
			}
			files[name] = file
		}
		if _, ok := edits[file]; !ok && slices.Contains(changed, file) {
			if _, here := head.tree.File(file); here {
				edits[file], _ = repo.Edits(ctx, w.tree, head.tree, file, maxMoved) // without them lines stay where they are
			} else {
				names[file], edits[file], _ = repo.Renamed(ctx, w.tree, head.tree, file, maxMoved)
			}
		}
		if to := names[file]; to != "" {
			name = to
		}
		return name, line(name, file, at)
	}
}

// loose are the looks without numbers and places, which are others at the commits of a search.
func (l looks) loose() looks {
	lines := strings.Split(strings.Join(l.parts, "\n"), "\n")
	for i, line := range lines {
		lines[i] = casebook.Line(line)
	}
	slices.Sort(lines)
	l.parts = slices.DeleteFunc(slices.Compact(lines), func(line string) bool { return line == "" })
	return l
}

// digest names the looks.
func (l *looks) digest() string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%t\x00%s", l.timeout, strings.Join(l.parts, "\x00"))))
	return hex.EncodeToString(sum[:])
}

// varying is what differs among failures of the tree under test in the laboratory, and so is no part of the failure.
type varying struct {
	failures []looks
	// patterns are those of the parts of the report that differ; nil for other parts.
	patterns []*regexp.Regexp
	// extra are the places of the parts that each failure that has those of the report has beyond them.
	extra []map[string]bool
	back  bool // some were those of the report
}

func learn(report *looks, failures []looks) *varying {
	v := &varying{failures: failures[:min(len(failures), mostLearned)], patterns: make([]*regexp.Regexp, len(report.parts))}
	texts := make([][]string, len(report.parts))
	for k := range v.failures {
		for i, part := range report.pairs(&v.failures[k]) {
			if part != "" {
				texts[i] = append(texts[i], part)
			}
		}
	}
	for i, list := range texts {
		if len(slices.Compact(slices.Sorted(slices.Values(list)))) > 1 && !recur(append(list, report.parts[i])) {
			if v.patterns[i] = common(append(list, report.parts[i])); v.patterns[i] == nil { // a few failures may have drawn the same words
				v.patterns[i] = common(list)
			}
		}
	}
	for k := range v.failures {
		if lacking, left := v.apart(report, &v.failures[k]); len(lacking) == 0 {
			extra := map[string]bool{}
			for _, part := range left {
				extra[placesOf(part)] = true
			}
			v.extra = append(v.extra, extra)
		}
	}
	return v
}

var digits = regexp.MustCompile(`[-+]?\d+(?:\.\d+)?`)

// recur says whether some texts differ in more than numbers, and some come again: they are no random names, but such as rows of which the first one
// that fails ends the test.
func recur(texts []string) bool {
	seen := map[string]bool{}
	for _, text := range texts {
		seen[digits.ReplaceAllString(text, "#")] = true
	}
	return len(seen) > 1 && len(seen) < len(texts)
}

// digest names what differs; it is empty for nothing.
func (v *varying) digest() string {
	var b strings.Builder
	for i, p := range v.patterns {
		if p != nil {
			fmt.Fprintf(&b, "%d %s\x00", i, p)
		}
	}
	return b.String()
}

// pairs gives for each part the one of another failure that is meant: an equal one, else one that names the same places; empty for none.
func (l *looks) pairs(other *looks) []string {
	pairs, left := make([]string, len(l.parts)), map[string][]string{} // by their places
	for _, part := range other.parts {
		at := placesOf(part)
		left[at] = append(left[at], part)
	}
	for _, equal := range []bool{true, false} {
		for i, part := range l.parts {
			at := placesOf(part)
			j := slices.IndexFunc(left[at], func(o string) bool { return !equal || o == part })
			if pairs[i] == "" && j >= 0 {
				pairs[i] = left[at][j]
				left[at] = slices.Delete(left[at], j, j+1)
			}
		}
	}
	return pairs
}

func placesOf(part string) string {
	var b strings.Builder
	for p := range sourcefile.Places(part) {
		b.WriteString(part[p.Start:p.End] + " ")
	}
	return b.String()
}

// What texts are compared by: words, and where these have as many parts, the parts of words, of which one may be drawn and another one not.
var (
	word = regexp.MustCompile(`[^\s,;:=()\[\]{}<>"'` + "`" + `]+|\s+|.`)
	part = regexp.MustCompile(`\d{4}-\d\d-\d\d(?:[T ][\d:.]+)?|\d+(?:[.:,]\d+)*[a-zA-Zµ]{0,3}\b|[\pL\pN]+|\s+|.`) // times and numbers are whole
)

// maxCommon is the longest text, in bytes, in which words that differ are looked for.
const maxCommon = 64 << 10

// common matches what texts have in common, where they have as many words; else it is nil.
func common(texts []string) *regexp.Regexp {
	return cmp.Or(commonOf(part, texts), commonOf(word, texts))
}

func commonOf(piece *regexp.Regexp, texts []string) *regexp.Regexp {
	if slices.ContainsFunc(texts, func(text string) bool { return len(text) > maxCommon }) {
		return nil
	}
	words := piece.FindAllString(texts[0], -1)
	for _, text := range texts[1:] {
		others := piece.FindAllString(text, -1)
		if len(others) != len(words) {
			return nil
		}
		for i := range words {
			if words[i] != others[i] {
				words[i] = "" // any
			}
		}
	}
	if !strings.ContainsFunc(strings.Join(words, ""), unicode.IsLetter) {
		return nil
	}
	for i, w := range words {
		if words[i] = regexp.QuoteMeta(w); w == "" {
			words[i] = `\S+`
		}
	}
	return regexp.MustCompile("^" + strings.Join(words, "") + "$")
}

// apart are the parts of a failure that another one does not have, but for what differs, and those that this has beyond.
func (v *varying) apart(report, run *looks) (lacking, left []string) {
	left = slices.Clone(run.parts)
	for i, part := range report.parts {
		j := slices.Index(left, part)
		if j < 0 && i < len(v.patterns) && v.patterns[i] != nil && v.patterns[i].MatchString(part) {
			j = slices.IndexFunc(left, v.patterns[i].MatchString)
		}
		if j < 0 {
			lacking = append(lacking, part)
		} else {
			left = slices.Delete(left, j, j+1)
		}
	}
	return lacking, left
}

func linesOf(parts []string) []string { return strings.Split(strings.Join(parts, "\n"), "\n") }

var (
	// frameText are frames of stacks. Those of Go have their place on a line of its own.
	frameText = regexp.MustCompile(`^(?:at|❯) .*\.[a-z]+:\d+|^\S+\.[a-z]+:\d+$|^\S+\.\S+\(\)$`)
	logText   = regexp.MustCompile(`(?i)\blog\w*\(`)
	valueText = regexp.MustCompile(`[({][^(){}]*[)}]`)
	fieldText = regexp.MustCompile(`^[A-Za-z_]\w*[:=]`)
)

// besides are the lines that only the failure of the case has, where all of them stand beside what failed: frames between those that both have,
// what a statement logs that is new, and messages with further fields of a value. It is empty where another line differs.
func (t *tally) besides(l *looks, only, left []string) (lines []string) {
	if odds.IsRerun(&t.result.Experiment) {
		return nil
	}
	for _, line := range left {
		frame := frameText.MatchString(line)
		j := slices.IndexFunc(only, func(o string) bool {
			return placesOf(o) == placesOf(line) && (frame && frameText.MatchString(o) || packed(o, line) == packed(line, line))
		})
		switch {
		case j >= 0:
			if only[j] != line && !frame {
				lines = append(lines, only[j])
			}
			only = slices.Delete(only, j, j+1)
		case line != "" && (!frame || placesOf(line) != ""):
			return nil
		}
	}
	other := func(line string) bool { return !frameText.MatchString(line) }
	if slices.ContainsFunc(only, func(line string) bool { return other(line) && !t.logs(line) }) || !slices.ContainsFunc(linesOf(l.parts), other) {
		return nil
	}
	return append(lines, only...)
}

// packed is a text without the fields of values that another one does not have.
func packed(text, other string) string {
	return valueText.ReplaceAllStringFunc(text, func(value string) string {
		fields := strings.FieldsFunc(value[1:len(value)-1], func(r rune) bool { return r == ' ' || r == ',' })
		return value[:1] + strings.Join(slices.DeleteFunc(fields, func(field string) bool {
			name := fieldText.FindString(field)
			return name != "" && !strings.Contains(other, name)
		}), " ") + value[len(value)-1:]
	})
}

// logs says whether a line is what a statement logs that the tree under test has and another one has not. It is not safe for concurrent use.
func (l *Lab) logs(ctx context.Context, w *workspace) func(line string) bool {
	edited := map[string][]repo.Edit{} // of files, by their names without folders
	return func(line string) bool {
		p, ok := sourcefile.Find(line)
		if !ok || p.Start != 0 {
			return false
		}
		if _, known := edited[p.Path]; !known {
			edited[p.Path] = nil
			head := l.trees[revisions{abi.Head, abi.Head}].tree
			for _, file := range head.Changed(w.tree) {
				if path.Base(file) == p.Path {
					edits, _ := repo.Edits(ctx, w.tree, head, file, maxMoved)
					edited[p.Path] = append(edited[p.Path], edits...)
				}
			}
		}
		return slices.ContainsFunc(edited[p.Path], func(e repo.Edit) bool {
			n := p.Line - e.NewFirst
			return n >= 0 && n < e.NewLines && logText.MatchString(e.Added[n])
		})
	}
}

// constant says whether all failures of the tree under test that have the parts of the report have this part, too.
func (v *varying) constant(part string) bool {
	at := placesOf(part)
	return !slices.ContainsFunc(v.extra, func(extra map[string]bool) bool { return !extra[at] })
}

// differs says in what a failure is another one than that of the case; empty for the same.
func (t *tally) differs(l *looks) string {
	if l.timeout && t.looks.timeout {
		return "" // the goroutines of timeouts differ each time
	}
	lacking, left := t.varying.apart(&t.looks, l)
	back, _ := (&varying{}).apart(l, &t.looks)
	switch {
	case t.loose && len(back) == 0 && len(l.parts) > 0:
		return ""
	case len(lacking) > 0:
		if lines := t.besides(l, linesOf(lacking), linesOf(left)); len(lines) > 0 {
			return fmt.Sprintf("%s%.300s", plan.Besides, strings.Join(lines, ", "))
		}
		lines, all := linesOf(lacking[:1]), linesOf(l.parts)
		return fmt.Sprintf("it does not fail with: %.200s", lines[max(0, slices.IndexFunc(lines, func(line string) bool { return !slices.Contains(all, line) }))])
	}
	for _, part := range left {
		if len(t.looks.parts) == 0 || odds.IsRerun(&t.result.Experiment) && !t.loose && t.varying.constant(part) {
			first, _, _ := strings.Cut(part, "\n")
			return fmt.Sprintf("it fails with more: %.200s", first)
		}
	}
	return ""
}

// compare counts the failures of the tree under test again, when all of them show in what they differ.
func (t *tally) compare() {
	r := &t.result
	if !odds.IsRerun(&r.Experiment) || len(t.failures) == 0 {
		return
	}
	back := t.varying.back
	t.varying = learn(&t.looks, slices.Concat(t.varying.failures, t.failures))
	r.Same, r.Other, r.Detail = 0, 0, ""
	for i := range t.failures {
		t.count(&t.failures[i])
	}
	t.varying.back = back || r.Same > 0
}
