package render_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// An Output redacts trials for all of its writers.
func ExampleOutput() {
	redactor, err := render.NewRedactor([]string{`token=\w+`})
	if err != nil {
		fmt.Println(err)
		return
	}
	out := render.NewOutput(redactor, render.NewTable(os.Stdout, render.TerminalOptions{}))
	one := &trial.Trial{Result: trial.Result{
		ID: "login token=abc123", Light: &trial.Answer{Classification: "pb001", Confidence: 0.9},
		Final: trial.Final{Status: trial.Accepted, Classification: "pb001", Confidence: 0.9},
	}}
	if err := errors.Join(out.Write(one), out.Close()); err != nil {
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
