package gotest_test

import (
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

func ExampleReader_Read() {
	stream := `{"Action":"output","Package":"example.com/shop","Test":"TestTotal","Output":"    shop_test.go:9: got 2, want 3\n"}
{"Action":"fail","Package":"example.com/shop","Test":"TestTotal"}
{"Action":"fail","Package":"example.com/shop"}
`
	var reader gotest.Reader
	for entry, err := range reader.Read("run.json", strings.NewReader(stream)) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		c := entry.Case
		fmt.Println(c.ID, c.Light.Classification, c.Light.Confidence)
		for _, e := range c.Evidence {
			fmt.Println(e.SourceRef, strings.TrimSpace(e.Content))
		}
	}
	// Output:
	// example.com/shop.TestTotal pb001 0.6
	// log:L1 shop_test.go:9: got 2, want 3
}
