package reportportal

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Limits of texts, in bytes.
const (
	maxSentence = 2000 // of a comment, before it is escaped
	maxName     = 200  // what a server calls something
)

// comment says what the court found, by which lines and runs, and how sure it is. ReportPortal shows it as Markdown.
func comment(r *trial.Result, f *finding, names map[string]string) string {
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
		if text := sanitize.Markdown(sanitize.Cut(sentence, maxSentence)); text != "" {
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

// plain is a comment without what servers and browsers change of it.
func plain(comment string) string {
	return strings.TrimSpace(strings.ReplaceAll(comment, "\r\n", "\n"))
}
