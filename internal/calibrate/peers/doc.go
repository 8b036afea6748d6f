// Package peers asks language models without a court, to measure what a court adds: one answer of a model, a vote of as many answers as the
// court's tokens buy, and a vote of different models. They see all that the court sees of a case.
package peers
