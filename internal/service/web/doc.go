// Package web serves the pages of the docket service: the inbox of cases that need a person, dockets, trials, modules, quality
// and settings.
//
// The server renders every page; all actions are plain form posts, and the script (static/app.js) only makes them quicker: keys,
// corrections without a new page, live progress. Texts of cases and modules are untrusted: package sanitize takes what acts or hides out of them,
// html/template escapes them, and no page needs an inline script or style, so that the Content-Security-Policy forbids both.
//
// A [Backend] gives the pages what they show and does what they ask for.
package web
