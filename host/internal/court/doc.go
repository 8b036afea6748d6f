// Package court is the engine: it takes a case from a docket entry to its verdict.
//
// [Court.Try] tries one case. It asks Light for a classification where the case has none, over the graph of a Light path or outside
// of the court; decides whether there is a trial at all; takes the case through the court's graph, once and after each remand; and
// ends every trial with a status, never with a lost case. [Audit] does the same for opinions and a rubric.
//
// The files, from the outside in:
//
//   - config, court, audit, candidate: what is opened, and what results depend on
//   - modules: the sandbox, the modules that it needs, and how they are read
//   - try, trial, hearing, remand, ending: one case in the court
//   - lightpath: one case on a Light path
//   - audit_*: one opinion
//   - proceeding, profile, prepare: what all three have in common
//   - invoker, session, broker: calls of modules, and what modules ask through capabilities
//   - recorder, script: what is recorded of a trial, and how a replay follows it
//   - propose, gaps: what is told of a trial
//
// Three walls stand within: package state has the reducers and no clock, package traverse goes through graphs and knows no court,
// package registry keeps generations of modules and knows no trial.
package court
