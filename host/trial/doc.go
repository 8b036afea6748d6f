// Package trial is the result model: what came of a case. The court, the Light path and the audit fill it, records and
// journals keep it, and package render shows it.
//
// A [Trial] is all that is known of one case after it was tried, enough to explain the verdict step by step. Its [Result]
// is the part that programs get, with a stable JSON form. An [Audit] is the same for a judicial opinion.
//
// Texts in a trial come from cases and modules, so treat them as untrusted: render.Sanitize escapes a trial for display.
package trial
