package run

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// LightConfig is a configuration with its court switched off: of a host that is
// opened on it, Light alone answers.
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
	for t := range h.TryAll(ctx, Each(entries), workers) {
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

// Each gives entries that are there already.
func Each(entries []docket.Entry) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		for i := range entries {
			if !yield(entries[i], nil) {
				return
			}
		}
	}
}

// Casebook answers from a snapshot, which stays the caller's.
func Casebook(s *casebook.Snapshot) host.Casebook { return book{s} }

type book struct{ *casebook.Snapshot }

// nearlyEqual is the most similarity that a case without the same fingerprint has.
const nearlyEqual = 0.99

// confirmedConfidence is how sure a verdict is that somebody knows to be right.
const confirmedConfidence = 0.95

// Recall gives the cases that look like this one. The confidence of one with
// the same fingerprint is that of its verdict, and no more than the match is worth.
func (b book) Recall(ctx context.Context, subject *abi.Case, limit int) ([]abi.PriorCase, error) {
	matches, err := b.Snapshot.Recall(ctx, casebook.Take(Failure(subject)), limit)
	if err != nil {
		return nil, err
	}
	list := make([]abi.PriorCase, len(matches))
	for i := range matches {
		m := &matches[i]
		list[i] = prior(&m.Case, math.Min(m.Similarity, nearlyEqual))
		if m.Kind == casebook.MatchExact {
			list[i].Similarity = 1
			list[i].Confidence = math.Min(list[i].Confidence, m.Confidence)
		}
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

// Failure is how a case failed, as the casebook recognises it: by its subject
// and its documents.
func Failure(c *abi.Case) casebook.Failure {
	f := casebook.Failure{Subject: c.Subject}
	for i := range c.Documents {
		f.Texts = append(f.Texts, c.Documents[i].Text)
	}
	return f
}

// Entry is a case to remember with what came of it, or what is known to be
// right. Of a mistrial without a truth only the failure is remembered: nothing
// was decided.
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
