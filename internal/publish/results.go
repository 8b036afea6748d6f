package publish

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Limits of results that are read.
const (
	maxLine    = 16 << 20 // bytes
	maxResults = 100_000
	maxMembers = 10_000 // of all results
	maxID      = 512    // bytes
)

// ReadResults reads what `try --format jsonl` writes. Its error names the line. The results have nothing that their decoding does not check but
// an id, a status and confidences in [0, 1].
func ReadResults(in io.Reader) ([]trial.Result, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	var results []trial.Result
	seen, members := map[string]bool{}, 0
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if len(results) == maxResults {
			return nil, fmt.Errorf("line %d: more than %d results", n, maxResults)
		}
		var r trial.Result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("line %d: not a result, as try --format jsonl writes it: %s", n, sanitize.Line(err.Error()))
		}
		members += len(r.Members)
		if err := checkResult(&r, seen); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if members > maxMembers {
			return nil, fmt.Errorf("line %d: more than %d members", n, maxMembers)
		}
		results = append(results, r)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return results, nil
}

func checkResult(r *trial.Result, seen map[string]bool) error {
	switch {
	case r.ID == "" || r.Final.Status == "":
		return errors.New("no result, as try --format jsonl writes it: id or final.status is missing")
	case !(r.Final.Confidence >= 0 && r.Final.Confidence <= 1), r.Light != nil && !(r.Light.Confidence >= 0 && r.Light.Confidence <= 1):
		return errors.New("a confidence outside of [0, 1]")
	}
	for _, id := range append([]string{r.ID}, r.Members...) {
		if len(id) > maxID {
			return fmt.Errorf("an id of more than %d bytes", maxID)
		}
		if seen[id] {
			return fmt.Errorf("a second result of %q", sanitize.Line(id))
		}
		seen[id] = true
	}
	return nil
}

// Limits of texts, in bytes.
const (
	maxItemSentence = 2000 // of a comment, before it is escaped
	maxItemName     = 200  // what a server calls something
)

// itemComment says what the court found, by which lines and runs, and how sure it is. ReportPortal shows it as Markdown.
func itemComment(r *trial.Result, f *itemFinding, names map[string]string) string {
	t := &trial.Trial{Result: *r, LabelNames: names}
	name := t.LabelName(f.label)
	if name != f.label {
		name += " (" + f.label + ")"
	}
	how := map[trial.Status]string{
		trial.Affirmed: "affirmed after a trial", trial.Amended: "amended after a trial", trial.Accepted: "confident enough without a trial",
		trial.Unreviewed: "without a trial",
	}[r.Final.Status]
	said := []string{"Shadowcourt: " + name + " at " + trial.Number(f.confidence) + ", " + how + ".", t.Conclusion().Text}
	if r.Verdict != nil {
		said = append(said, r.Verdict.Reasoning)
	}
	said = append(said, f.bound.Words)
	var b strings.Builder
	for _, sentence := range said {
		if text := sanitize.Markdown(sanitize.Cut(sentence, maxItemSentence)); text != "" {
			b.WriteString(text + "\n\n")
		}
	}
	return sign(f.label, strings.TrimSpace(b.String()))
}

// marked is a comment with the mark of this program at its end.
var marked = regexp.MustCompile(`(?s)^(.*)\n\nshadowcourt:([0-9a-f]{32})$`)

// sign adds the mark: a digest of the defect type and the text, by which a later run tells whether somebody changed either.
func sign(issueType, text string) string { return text + "\n\nshadowcourt:" + digest(issueType, text) }

func digest(issueType, text string) string {
	sum := sha256.Sum256([]byte(issueType + "\x00" + text))
	return hex.EncodeToString(sum[:16])
}

// ownership is whose a defect type with its comment is.
type ownership int

const (
	others  ownership = iota // no mark of ours
	ours                     // as this program wrote it
	changed                  // this program wrote it, and somebody changed it
)

func ownerOf(issueType, comment string) ownership {
	m := marked.FindStringSubmatch(plain(comment))
	switch {
	case m == nil && strings.Contains(comment, "shadowcourt:"):
		return changed
	case m == nil:
		return others
	case m[2] != digest(issueType, m[1]):
		return changed
	}
	return ours
}
