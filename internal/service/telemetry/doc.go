// Package telemetry has what the log lines and the traces of the docket service have in common: the ids of what a context is about, and
// spans that go to a collector over OTLP/HTTP as the standard environment variables of OpenTelemetry say.
//
// Neither has texts of dockets: ids, names of modules, statuses and counts alone.
package telemetry
