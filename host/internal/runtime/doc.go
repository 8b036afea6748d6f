// Package runtime is what trials, audits, candidates and replays share: it reads modules, states what pipelines and rubrics
// need of them, and plays personas with them.
package runtime
