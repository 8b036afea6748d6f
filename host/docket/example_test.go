package docket_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
)

// A docket is read line by line; a wrong line is told in full and does not stop the others.
func ExampleReader_JSONL() {
	const cases = `{"id":"a","subject":"TestA fails","labels":["pb001","ab001"],"evidence":[],"documents":[]}
{"id":"b","subject":"TestB fails","labels":["pb001"],"evidence":[],"colour":"red"}
`
	var reader docket.Reader
	for entry, err := range reader.JSONL("cases.jsonl", strings.NewReader(cases)) {
		var wrong *docket.LineError
		switch {
		case errors.As(err, &wrong):
			fmt.Println(wrong)
		case err != nil:
			fmt.Println("reading:", err)
		default:
			fmt.Println(entry.Case.ID, entry.Case.Subject)
		}
	}
	// Output:
	// a TestA fails
	// cases.jsonl:2: labels: has 1 label, at least 2 are needed (bad_count)
	// cases.jsonl:2: colour: is no field of a case (unknown_field)
	// cases.jsonl:2: documents: is missing (missing_field)
}

// Redaction stands before all writers, so that none can forget it.
func ExampleOutput() {
	redactor, err := docket.NewRedactor([]string{`token=\w+`})
	if err != nil {
		fmt.Println(err)
		return
	}
	out := docket.NewOutput(redactor, docket.NewTable(os.Stdout, docket.TerminalOptions{}))
	trial := &docket.Trial{Result: docket.Result{
		ID: "login token=abc123", Light: &docket.Answer{Classification: "pb001", Confidence: 0.9},
		Final: docket.Final{Status: docket.Accepted, Classification: "pb001", Confidence: 0.9},
	}}
	if err := errors.Join(out.Write(trial), out.Close()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// CASE              STATUS    LIGHT       FINAL
	// ──────────────────────────────────────────────────
	// login [redacted]  accepted  pb001 0.90  pb001 0.90
	//
	// Cases      1: 1 accepted
	// Answers    1 pb001
	// Statuses   Light is the classifier under review; accepted: Light was sure enough, no trial
}
