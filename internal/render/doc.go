// Package render writes trials and audits: tables and explanations for terminals, JSON and JSON lines for programs, and
// cases as a docket. Package render/report writes HTML and Markdown pages.
//
// A [Writer] takes trials one by one. [Output] hands each trial to several writers and redacts it before, so that no writer
// can forget to. Texts of cases and modules are untrusted: all writers sanitize them, see package sanitize.
package render
