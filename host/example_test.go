package host_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

func ExampleHost() {
	ctx := context.Background()
	h, err := host.Open(ctx, host.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close(ctx)
	outcome, err := h.Try(ctx, abi.Case{
		ID: "disk-7", Subject: "a disk that fills up", Labels: []string{"leak", "quota"},
		Light:     &abi.LightAnswer{Classification: "leak", Confidence: 0.65},
		Evidence:  []abi.Evidence{{SourceRef: "log:L2", Content: "quota exceeded for volume data-7", RelevanceConfidence: 0.9, Supports: "quota"}},
		Documents: []abi.Document{{Name: "log", Text: "12:00 write failed\nquota exceeded for volume data-7\n"}},
	})
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(outcome.Result.Final.Status, outcome.Result.Final.Classification)
	// Output: amended quota
}
