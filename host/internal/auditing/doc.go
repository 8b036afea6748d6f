// Package auditing runs an audit: collectors read the documents, judges score
// the criteria of the rubric, the host synthesises and concludes.
//
// Collectors and judges are branches that run side by side. Each gives an
// update of the state, and the reducers merge the updates in the order in which
// they come: no order changes a byte of the outcome. A branch that fails is an
// entry in the channel errors, and leaves the audit degraded.
package auditing
