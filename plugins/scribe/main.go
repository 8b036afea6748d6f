// Command scribe is a collector of an audit: it reads how the opinion argues, and quotes it.
package main

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
)

func init() { node.Handle(collect) }

func main() {}

func collect(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	return reading.Collect("the scribe", r, read)
}

// maxFindings bounds a discovery; the first stay.
const maxFindings = 64

// maxQuoteBytes bounds a quote.
const maxQuoteBytes = 300

// kinds of statements that bear on criteria. A criterion that the audit does not ask for is left out.
var kinds = []struct {
	criterion, observation string
	words                  []string
}{
	{"calibration", "says how sure it is", []string{
		"confidence", "confident", "probability", "probable", "probably", "certain*", "likely", "uncertain*",
	}},
	{"even_handedness", "answers a side", []string{
		"prosecution", "defense", "defence", "defend*", "accus*", "plaintiff", "claimant", "respondent", "appellant", "challeng*", "rebut*", "however", "although",
	}},
	{"transparency", "gives a reason, or concludes", []string{
		"because", "therefore", "thus", "hence", "since", "conclude*", "verdict", "decid*", "affirm*", "dismiss*",
	}},
}

// read quotes the statements of the opinion that say how it argues.
func read(statements []reading.Statement, _ []abi.Document, criteria []string, out *abi.Discovery) {
	for _, kind := range kinds {
		if !slices.Contains(criteria, kind.criterion) {
			continue
		}
		found := false
		for s := range statements {
			if len(out.Findings) == maxFindings || len(statements[s].Text) > maxQuoteBytes || !reading.Says(&statements[s], kind.words...) {
				continue
			}
			found = true
			out.Findings = append(out.Findings, abi.Finding{
				Document: reading.OpinionName, Observation: kind.observation, Quote: statements[s].Text,
				Supports: kind.criterion, Strength: 0.5,
			})
		}
		if !found {
			out.Missing = append(out.Missing, "no statement "+kind.observation)
		}
	}
}
