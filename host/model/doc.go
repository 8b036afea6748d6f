// Package model asks language models for personas: it implements the host's interface for the capability complete.
//
// A file models.yaml says which models there are ([Load]). Each is asked at a provider: any endpoint with the interface of OpenAI, or
// Anthropic. [Open] makes a [Set] of them, which validates answers by their schema, repairs a broken answer once, keeps budgets, and
// answers from a [Cassette] where there is one. Whatever goes wrong with a model is an outcome of the completion, with a
// line that says what happened.
package model
