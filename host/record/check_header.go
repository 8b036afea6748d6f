package record

import (
	"fmt"
	"slices"
)

func checkHeader(h *Header) error {
	if h.Format != Format {
		return fmt.Errorf("a record of the format %q: this program reads format %s", h.Format, Format)
	}
	if !slices.Contains([]Contents{ContentsReplay, ContentsBytes, ContentsDigests}, h.Contents) {
		return fmt.Errorf("a record with the contents %q", h.Contents)
	}
	for _, p := range h.Configuration {
		if text, there := h.text(p.Name); there && DigestOf(text) != p.Digest {
			return fmt.Errorf("what it holds as %q has another digest than its configuration says", p.Name)
		}
	}
	return nil
}

// text gives the part of a configuration that the header itself holds.
func (h *Header) text(name string) (text []byte, there bool) {
	var audit AuditHeader
	if h.Audit != nil {
		audit = *h.Audit
	}
	switch name {
	case "pipeline":
		return []byte(h.Pipeline), true
	case "light pipeline":
		return []byte(h.LightPath), true
	case "profile":
		return h.Profile, true
	case "limits of the court":
		return h.Court, true
	case "audit pipeline":
		return []byte(audit.Pipeline), true
	case "rubric":
		return []byte(audit.Rubric), true
	}
	return nil, false
}
