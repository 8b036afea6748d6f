// Package mcp serves trials to agents over the Model Context Protocol: an agent tries cases, reads trials, corrects verdicts, and
// plays personas of the court in place of a language model.
//
// A persona that asks a model (see abi.Completion) does not know who answers. A [Seat] is the model of a host whose answers come
// from an agent: the trial waits, the agent is given the messages and the JSON Schema of the answer, and what it submits is validated
// before the trial goes on. So an agent needs no key, sees no more than the persona's mask lets through, and is recorded like any
// model.
package mcp
