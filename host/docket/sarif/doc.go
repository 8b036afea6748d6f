// Package sarif reads the results of static analyses in SARIF 2.1.0, one case for each finding: is it real, or a false positive?
//
// A result is a case unless its kind says that nothing was found (pass, notApplicable, informational), it is suppressed, or its
// baselineState says that it was known before (unchanged) or is gone (absent). [Reader.Left] tells how many were left out.
//
// The first location names the case, as "cart/sum.py:13:B602". Its documents are:
//
//	finding   file, line, level and rule of the result, and its message
//	rule      name and texts of the rule: short and full description, help
//	snippet   the code around the finding, as the tool or [Reader.Code] gives it
//	flow      the steps of its first code flow, or of its first stack
//	related   its other locations
//	about     what the tool says of it: version, kind, rank, precision, security-severity, tags
//
// # The tool's own estimate
//
// Light is the tool: its label is always [Real]. Its confidence is the first of these that there is, and is set by hand:
//
//	kind open or review                              0.50
//	precision or confidence of the result or the rule very-high 0.90, high 0.80, medium 0.65, low 0.50
//	rank                                             from 0.50 for 0 to 0.85 for 100
//	level                                            error 0.70, warning 0.60, note or none 0.50
//
// A result without a level has that of its rule, else the one of security-severity (from 7 error, from 4 warning), else warning. How
// bad a finding would be tells nothing of whether it is real, so security-severity is used for nothing else.
package sarif
