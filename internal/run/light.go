package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/repo"
)

// LightConfig is a configuration with its court switched off: of a host that is opened on it, Light alone answers.
func LightConfig(config host.Config) host.Config {
	config.Court = func(c *pipeline.Court) { c.Enabled, c.TTL = false, time.Minute }
	return config
}

// Light answers the entries of a docket without holding court, so that what is fitted or measured on them sees the Light that the
// court will see. It returns them in their order, with Light's answer in place of the case's own and the evidence that Light
// gathered behind the case's own. Documents are those that Light saw, cut to what a case may hold. An entry that Light fails on
// has no answer. workers is how many are answered at once (0: one for each processor). answered, if not nil, is told each trial.
//
// h must be opened on a [LightConfig]. The error is the first of an entry, or the context's.
func Light(ctx context.Context, h *host.Host, entries []docket.Entry, workers int, answered func(*trial.Trial)) ([]docket.Entry, error) {
	out := make([]docket.Entry, 0, len(entries))
	for t := range h.TryAll(ctx, docket.Each(entries), workers) {
		if t.Err != nil {
			return nil, t.Err
		}
		entry := t.Entry
		entry.Case = t.Trial.Case
		out = append(out, entry)
		if answered != nil {
			answered(t.Trial)
		}
	}
	return out, ctx.Err()
}

// Casebook answers from a snapshot, which stays the caller's.
func Casebook(s *casebook.Snapshot) host.Casebook { return book{s} }

type book struct{ *casebook.Snapshot }

// confirmedConfidence is how sure a verdict is that somebody knows to be right.
const confirmedConfidence = 0.95

// Recall gives the cases with the same fingerprint. The confidence of each is that of its verdict, and no more than the match is worth.
func (b book) Recall(ctx context.Context, subject *abi.Case, limit int) ([]abi.PriorCase, error) {
	matches, err := b.Snapshot.Recall(ctx, casebook.Take(Failure(subject)), limit)
	if err != nil {
		return nil, err
	}
	list := make([]abi.PriorCase, len(matches))
	for i := range matches {
		m := &matches[i]
		list[i] = prior(&m.Case, 1)
		list[i].Confidence = math.Min(list[i].Confidence, m.Confidence)
	}
	return list, nil
}

// Correlate gives the cases whose text is about the same.
func (b book) Correlate(ctx context.Context, text string, limit int) ([]abi.PriorCase, error) {
	hits, err := b.Snapshot.Correlate(ctx, text, limit)
	if err != nil {
		return nil, err
	}
	list := make([]abi.PriorCase, len(hits))
	for i := range hits {
		list[i] = prior(&hits[i].Case, hits[i].Similarity)
	}
	return list, nil
}

func prior(c *casebook.Case, similarity float64) abi.PriorCase {
	p := abi.PriorCase{
		CaseID: c.ID, Subject: c.Subject, Classification: c.Verdict.Classification, Status: c.Verdict.Status,
		Confidence: c.Verdict.Confidence, Similarity: similarity, Seen: max(c.Seen, 1),
		Confirmed: c.Verdict.Origin == casebook.Confirmed, Absent: c.Absent,
	}
	if p.Confirmed {
		p.Confidence = confirmedConfidence
	}
	return p
}

// Failure is how a case failed, as the casebook recognises it: by its subject and its documents.
func Failure(c *abi.Case) casebook.Failure {
	f := casebook.Failure{Subject: c.Subject}
	for i := range c.Documents {
		f.Texts = append(f.Texts, c.Documents[i].Text)
	}
	return f
}

// Entry is a case to remember with what came of it, or what is known to be right. Of a mistrial without a truth only the failure is
// remembered: nothing was decided.
func Entry(c *abi.Case, truth *trial.Truth, final *trial.Final) casebook.Entry {
	entry := casebook.Entry{CaseID: c.ID, Group: c.Group, Failure: Failure(c)}
	switch {
	case truth != nil && truth.Classification != "":
		entry.Verdict = &casebook.Verdict{
			Origin: casebook.Confirmed, Status: "confirmed", Classification: truth.Classification, Confidence: final.Confidence,
		}
	case final.Status != trial.Mistrial:
		entry.Verdict = &casebook.Verdict{Status: string(final.Status), Classification: final.Classification, Confidence: final.Confidence}
	}
	return entry
}

// groupRule says which failures have one cause, so that one trial decides all of them: those in whose documents the pattern matches the same
// words, figures aside.
type groupRule struct {
	name    string
	words   []string       // one of them stands in the document; looked for first, since that is fast
	pattern *regexp.Regexp // what its parentheses match tells groups apart
	after   *regexp.Regexp // optional: what stands behind the first match and tells groups apart, too
}

// groupRules: the first that matches a document of the case gives the group.
var groupRules = []groupRule{
	{
		"does not build",
		[]string{"[build failed]", "[setup failed]"},
		regexp.MustCompile(`(?m)^(?:\S*/)?([\w.-]+\.go):\d+(?::\d+)?: (.+)$`), nil,
	},
	{
		"panic",
		[]string{"panic: "},
		regexp.MustCompile(`(?m)^panic: (.+?)(?: \[recovered(?:, repanicked)?\])?$`),
		regexp.MustCompile(`(?m)^((?:[\w.~-]+/)+[\w.~-]+\.(?:\(\*?\w+\)\.)?\w+)(?:\[\.\.\.\])?(?:\.\w+)*\(`),
	},
	{
		"no network",
		[]string{
			"no such host", "network is unreachable", "no route to host", "Temporary failure in name resolution", "getaddrinfo",
			"Name or service not known", "server misbehaving",
		},
		regexp.MustCompile(`\b(no such host|network is unreachable|no route to host|Temporary failure in name resolution|getaddrinfo E\w+|` +
			`Name or service not known|server misbehaving)\b`), nil,
	},
	{
		"nobody listens",
		[]string{"connection refused", "ECONNREFUSED"},
		regexp.MustCompile(`\bdial (?:tcp|udp|unix) (\S+): connect: (connection refused)|\b(ECONNREFUSED) (\S+)`), nil,
	},
	{
		"folder for temporary files",
		[]string{"/tmp"},
		regexp.MustCompile(`\b(?:open|mkdir|mkdirat|stat|chdir|createtemp|mkdirtemp|mktemp) ((?:/private)?/(?:tmp|var/tmp))(?:/\S*)?: ` +
			`(no such file or directory|permission denied|read-only file system)`), nil,
	},
	{"full disk", []string{"no space left on device", "ENOSPC"}, regexp.MustCompile(`\b(no space left on device|ENOSPC)\b`), nil},
	{
		"missing program",
		[]string{"exec: "},
		regexp.MustCompile(`\bexec: "?([\w./-]+)"?: (executable file not found in \$PATH|no such file or directory)`), nil,
	},
	{"missing time zone", []string{"unknown time zone"}, regexp.MustCompile(`\b(unknown time zone \S+)`), nil},
	{"too many open files", []string{"too many open files", "EMFILE"}, regexp.MustCompile(`\b(too many open files|EMFILE)\b`), nil},
}

// GroupKey is equal for cases that belong together; empty for a case that belongs to no group.
func GroupKey(c *abi.Case) string {
	for i := range groupRules {
		for j := range c.Documents {
			if key := groupRules[i].key(c.Documents[j].Text); key != "" {
				return key + "\x00" + strings.Join(c.Labels, "\x00")
			}
		}
	}
	return ""
}

func (r *groupRule) key(text string) string {
	if !slices.ContainsFunc(r.words, func(word string) bool { return strings.Contains(text, word) }) {
		return ""
	}
	match := r.pattern.FindStringSubmatchIndex(text)
	if match == nil {
		return ""
	}
	parts := append([]string{r.name}, submatches(text, match)...)
	if r.after != nil {
		behind := text[match[1]:]
		if second := r.after.FindStringSubmatchIndex(behind); second != nil {
			parts = append(parts, submatches(behind, second)...)
		}
	}
	return strings.Join(parts, "\x00")
}

func submatches(text string, match []int) []string {
	var list []string
	for i := 2; i < len(match); i += 2 {
		if match[i] >= 0 {
			list = append(list, figures.ReplaceAllString(text[match[i]:match[i+1]], "#"))
		}
	}
	return list
}

// figures are numbers and addresses, which differ from failure to failure.
var figures = regexp.MustCompile(`\b0x[0-9a-fA-F]+\b|\d+`)

// maxGroupBytes of documents wait for more of their group. Groups of larger reports are cut there.
const maxGroupBytes = 64 << 20

// Grouped puts cases of one group into the first entry of the group, as its Members. Entries with a truth or an error stay alone. Groups
// wait for the end of the entries, or until they hold 64 MiB of documents; what belongs to none goes on at once.
func Grouped(entries iter.Seq2[docket.Entry, error]) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		w := window{groups: map[string]int{}}
		for entry, err := range entries {
			key := ""
			var line *docket.LineError
			switch {
			case err == nil && entry.Truth == nil:
				key = GroupKey(&entry.Case)
			case err != nil && !errors.As(err, &line): // the last
				if !w.give(yield) {
					return
				}
			}
			if key == "" {
				if !yield(entry, err) {
					return
				}
				continue
			}
			w.add(entry, key)
			if w.bytes > maxGroupBytes && !w.give(yield) {
				return
			}
		}
		w.give(yield)
	}
}

// window holds the first entry of each group until no more are looked for.
type window struct {
	entries []docket.Entry
	groups  map[string]int // index of the entry, by key
	bytes   int
}

func (w *window) add(entry docket.Entry, key string) {
	for i := range entry.Case.Documents {
		w.bytes += len(entry.Case.Documents[i].Text)
	}
	if first, ok := w.groups[key]; ok {
		w.entries[first].Members = append(w.entries[first].Members, entry.Case)
		return
	}
	w.groups[key] = len(w.entries)
	w.entries = append(w.entries, entry)
}

func (w *window) give(yield func(docket.Entry, error) bool) bool {
	for i := range w.entries {
		if !yield(w.entries[i], nil) {
			return false
		}
	}
	*w = window{groups: map[string]int{}}
	return true
}

// maxChanged bounds the files of a diff that are told.
const maxChanged = 500

// Source answers from a tree, which stays the caller's. It reads all of it once, for its digest.
func Source(ctx context.Context, t *repo.Source) (host.Source, error) {
	digest, err := t.Digest(ctx)
	if err != nil {
		return nil, fmt.Errorf("digest of the source: %w", err)
	}
	s := &source{of: t, digest: digest, touched: make(map[string]bool)}
	for _, c := range t.Changed() {
		s.touched[c.Path] = c.Code()
	}
	return s, nil
}

type source struct {
	of      *repo.Source
	digest  string
	touched map[string]bool
}

func (s *source) Digest() string { return s.digest }

// Source gives the places of the tree that a text names, and what the diff changes.
func (s *source) Source(_ context.Context, query abi.SourceQuery) (abi.SourceAnswer, error) {
	frames := s.of.Frames(query.Text)
	answer := abi.SourceAnswer{Known: true}
	if s.of.Compares() {
		s.compare(&answer, query.Text, frames)
	}
	for i := range frames[:min(len(frames), query.Limit)] {
		f := &frames[i]
		frame := abi.SourceFrame{
			Path: f.Path, Line: f.Line, Kind: f.Role, Function: f.Function,
			Changed: s.touched[f.Path], ChangedNear: s.of.Touches(*f),
		}
		if !f.Stale {
			if excerpt, err := s.of.Excerpt(f.Path, f.Line, query.Lines); err == nil { // a file that can't be read has none
				frame.Excerpt = strings.Join(excerpt.Lines, "\n")
			}
		}
		answer.Frames = append(answer.Frames, frame)
	}
	return answer, nil
}

// compare tells the diff: of the files with the nearest reach the first ones of each kind.
func (s *source) compare(answer *abi.SourceAnswer, text string, frames []repo.Frame) {
	near := make(map[string]bool) // folders of the failing tests and of the places that the text names
	for _, t := range s.of.Tests(text, frames) {
		answer.Tests = append(answer.Tests, abi.FailingTest{Name: t.Name, Path: t.Path, New: t.New, Changed: t.Changed})
		near[path.Dir(t.Path)] = true
	}
	for i := range frames {
		near[path.Dir(frames[i].Path)] = true
	}
	answer.Diff, answer.Located = true, len(near) > 0
	type group struct {
		reach abi.SourceReach
		kind  abi.SourceKind
	}
	groups := make(map[group][]abi.ChangedFile)
	for _, c := range s.of.Changed() {
		g := group{reach(&c, near), c.Role}
		groups[g] = append(groups[g], abi.ChangedFile{
			Path: c.Path, Kind: c.Role, Added: c.AddedLines, Removed: c.RemovedLines, Reach: g.reach, Code: c.Code(),
		})
	}
	for _, reach := range []abi.SourceReach{abi.ReachPackage, abi.ReachDependencies, abi.ReachUnknown, abi.ReachNone} {
		for _, kind := range []abi.SourceKind{abi.SourceProduct, abi.SourceTest, abi.SourceFixture, abi.SourceOther} {
			files := groups[group{reach, kind}]
			answer.Changed = append(answer.Changed, files[:min(len(files), maxChanged/4)]...)
		}
	}
	answer.Changed = answer.Changed[:min(len(answer.Changed), maxChanged)]
}

// reach says how a change bears on the failing tests: by the folder alone, since what they import is not followed.
func reach(c *repo.Change, near map[string]bool) abi.SourceReach {
	switch {
	case !c.Code():
		return abi.ReachNone
	case sourcefile.IsDependencies(c.Path), sourcefile.IsBuild(c.Path):
		return abi.ReachDependencies
	case c.Role == abi.SourceOther:
		return abi.ReachNone
	case near[path.Dir(c.Path)]:
		return abi.ReachPackage
	}
	return abi.ReachUnknown
}
