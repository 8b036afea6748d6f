package store

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// prefixed puts the name of a table before each column of a list.
func prefixed(table, columns string) string {
	names := strings.Split(columns, ",")
	for i, name := range names {
		names[i] = table + "." + strings.TrimSpace(name)
	}
	return strings.Join(names, ", ")
}

// decodeTrial reads the columns of a verdict; without a story the result alone.
func decodeTrial(result, story []byte) (*trial.Trial, error) {
	result, err := unpack(result, "a result")
	if err == nil && story != nil {
		story, err = unpack(story, "a trial")
	}
	if err != nil {
		return nil, err
	}
	return run.DecodeTrial(result, story)
}

// Doubt is how much a result needs a person, in [0, 1]: 1 without a label, and else 1 less the confidence.
func Doubt(final *trial.Final) float64 {
	if final.Classification == "" {
		return 1
	}
	return 1 - final.Confidence
}
