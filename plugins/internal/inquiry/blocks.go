package inquiry

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// How many blocks of a kind are looked at, by depth.
const (
	maxBroken  = 4
	maxSites   = 3
	maxReports = 6
	maxCrashes = 3
)

// deeper is how many times as much is looked at when the court asks.
const deeper = 3

// most is a bound for this pass.
func (c *Clues) most(bound int) int {
	if c.remanded {
		return bound * deeper
	}
	return bound
}

// depthOf the n-th of what a traversal looks at most of bound times, so many at each depth.
func depthOf(n, bound, each int) int {
	if n > bound {
		return Remanded
	}
	return min((n+each-1)/each, Deepest)
}

// blocks finds the lines that name places: diagnostics, crashes with the frames of their own, and reports.
func (c *Clues) blocks(d *document, t *teller) {
	crash := -1 // the crash whose frames are being read
	counts := make(map[Kind]int)
	sites := 0
	for i := 0; i < d.lines(); i++ {
		line := d.line(i)
		if crashes(line) && counts[Crash] < c.most(maxCrashes) {
			end := crashEnd(d, i)
			counts[Crash]++
			c.add(d, i, end, Clue{Kind: Crash, Depth: depthOf(counts[Crash], maxCrashes, 1)})
			if crash < 0 || sites == 0 {
				crash = i
			}
			i = end - 1
			continue
		}
		p, ok := sourcefile.Find(line)
		if !ok {
			if line == "" && sites > 0 {
				crash = -1 // the first stack is over
			}
			continue
		}
		switch {
		case p.Form == sourcefile.Diagnostic && counts[Broken] < c.most(maxBroken):
			counts[Broken]++
			c.add(d, i, i+1, Clue{Kind: Broken, Depth: depthOf(counts[Broken], maxBroken, 1), Place: p, fact: t.broken(p)})
		case p.Form == sourcefile.Frame && crash >= 0 && sites < c.most(maxSites) && !t.foreign(p):
			sites++
			first := i
			if i > crash+1 && d.block[i-1] == 0 && strings.TrimSpace(d.line(i-1)) != "" && strings.HasPrefix(strings.TrimLeft(line, " "), "\t") {
				first = i - 1 // the function stands before its file
			}
			c.add(d, first, i+1, Clue{Kind: Site, Depth: depthOf(sites, maxSites, 1), Place: p, fact: t.site(p, sites, d.line(crash), functionLine(line, d.line(first)))})
		case p.Form == sourcefile.Report && counts[Report] < c.most(maxReports) && !t.foreign(p):
			counts[Report]++
			end := reportEnd(d, i)
			c.add(d, i, end, Clue{Kind: Report, Depth: depthOf(counts[Report], maxReports, 2), Place: p, fact: t.report(p, d.quote(i, end))})
			i = end - 1
		}
	}
}

// crashes says whether a line is one with which a runtime begins to tell that
// a program ended. Each line is asked, so most are told apart by their first letter.
func crashes(line string) bool {
	at := 0
	for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
		at++
	}
	line = line[at:]
	if line == "" {
		return false
	}
	opening := ""
	switch line[0] {
	case 'p':
		opening = "panic: "
	case 'f':
		opening = "fatal error: "
	case 'u':
		opening = "unexpected fault address"
	case 'T':
		opening = "Traceback (most recent call last)"
	case 'E':
		opening = "Exception in thread "
	case 'C':
		opening = "Caused by: "
	case 'U':
		if opening = "Unhandled exception"; strings.HasPrefix(line, "Uncaught ") {
			return true
		}
	case 'S':
		if opening = "Segmentation fault"; strings.HasPrefix(line, "SIG") {
			return strings.Contains(line, ": ")
		}
	case 't':
		if strings.HasPrefix(line, "thread '") {
			return strings.Contains(line, "panicked at")
		}
	}
	if opening != "" && strings.HasPrefix(line, opening) {
		return true
	}
	return strings.Contains(line, "panic") && (strings.Contains(line, "panic serving ") || strings.Contains(line, " panicked: "))
}

// crashEnd is the line behind the message of a crash.
func crashEnd(d *document, first int) int {
	end := first + 1
	for end < d.lines() && end < first+maxQuoteLines {
		line := d.line(end)
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "goroutine ") || strings.HasPrefix(strings.TrimSpace(line), "at ") {
			break
		}
		if _, ok := sourcefile.Find(line); ok {
			break
		}
		end++
	}
	return end
}

// reportEnd goes on while lines are indented deeper than the first, as the lines of one message are.
func reportEnd(d *document, first int) int {
	margin := indent(d.line(first))
	end := first + 1
	for end < d.lines() && end < first+maxQuoteLines && indent(d.line(end)) > margin {
		end++
	}
	return end
}

// indent of a line; of a blank one it is 0.
func indent(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 8
		default:
			return n
		}
	}
	return 0
}

// functionLine is the line of a frame that names its function: Go's stands before the place, Python's is the same.
func functionLine(frame, before string) string {
	if strings.Contains(frame, ", in ") {
		return frame
	}
	return before
}

// symptom is what the message of a failed test is about.
type symptom int

// The symptoms.
const (
	unnamed  symptom = iota // it doesn't say
	compared                // a value is not the one that the test wants
	ran                     // the test ran into an error
)

// comparing words stand in messages that set one value against another.
func comparing() []string {
	return []string{
		"got", "want", "wants", "wanted", "expect", "expects", "expected", "expecting", "actual", "but was",
		"should", "mismatch", "not equal", "differ", "differs", "!=", "==", "assertionerror",
	}
}

// failing words stand in messages that hand on an error, those of operating systems among them.
func failing() []string {
	return []string{
		"error", "err", "failed", "cannot", "can't", "could not", "couldn't", "unable to", "invalid", "denied", "refused",
		"no such", "timeout", "timed out", "exceeded", "not permitted", "unavailable", "unreachable", "read-only file system",
		"no space left", "too many open files", "file too large", "already in use", "connection reset", "broken pipe",
	}
}

// surprising words say that the error was what nobody wanted.
func surprising() []string {
	return []string{"unexpected error", "unexpected err", "unexpected exception"}
}

// messages tells what messages of tests are about.
type messages struct{ comparing, failing, surprising odds.Signals }

func newMessages() messages {
	return messages{odds.FindPhrases(comparing()), odds.FindPhrases(failing()), odds.FindPhrases(surprising())}
}

// symptom of the message of a report. Where both an error and a comparison stand, the test wants one error and got another, or none.
func (m *messages) symptom(quote, path string) symptom {
	message := withoutLabels(behind(quote, path))
	switch compares := stands(m.comparing, message); {
	case compares && !stands(m.surprising, message):
		return compared
	case stands(m.failing, message) || compares:
		return ran
	default:
		return unnamed
	}
}

func stands(s odds.Signals, content string) bool {
	found := false
	s.Scan(content, func(_, _, _ int) { found = true })
	return found
}

// behind is a quote without the place that it begins with, whose name may hold any words.
func behind(quote, path string) string {
	if _, rest, found := strings.Cut(quote, path); found {
		return rest
	}
	return quote
}

// withoutLabels leaves out what assertion libraries print before every message: the word error there says nothing.
func withoutLabels(message string) string {
	var b strings.Builder
	for line := range strings.Lines(message) {
		rest := strings.TrimLeft(line, " \t")
		if strings.HasPrefix(rest, "Error Trace:") || strings.HasPrefix(rest, "Test:") {
			continue
		}
		if behind, ok := strings.CutPrefix(rest, "Error:"); ok && line != rest {
			rest = behind
		}
		b.WriteString(rest)
	}
	return b.String()
}
