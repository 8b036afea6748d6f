package docket_test

import (
	"errors"
	"fmt"
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
