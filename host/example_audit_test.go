package host_test

import (
	"context"
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/audit"
)

// An opinion is checked against what the log says.
func ExampleAuditor() {
	ctx := context.Background()
	a, err := host.OpenAuditor(ctx, host.AuditConfig{CacheDir: cacheDir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = a.Close(ctx) }()
	outcome, err := a.Audit(ctx, audit.Subject{
		Opinion:   abi.JudicialOpinion{CaseID: "disk", Text: `The log says "quota exceeded for volume data-7", so that the disk was not broken.`},
		Documents: []abi.Document{{Name: "log", Text: "12:00 write failed\n12:01 quota exceeded for volume data-7\n"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, result := range outcome.Report.Results {
		fmt.Println(result.CriterionID, result.NumericScore)
	}
	fmt.Println(audit.Score(outcome.Report.GlobalScore))
	// Output:
	// evidence_support 5
	// transparency 2
	// even_handedness 2
	// calibration 2
	// security 5
	// 3.6
}
