package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// request is what a prosecution typically gets: ten items and a document of 2 kB.
func request() *abi.NodeRequest {
	v := &abi.NodeRequest{
		Node: "indict", Family: abi.FamilyIndict,
		Persona: abi.Persona{Name: "Challenger", Colour: "Scarlet", Element: abi.Fire, Role: "prosecutor", Alignment: "accuser"},
		Case: abi.CaseView{
			Subject:   "TestCheckout/retries",
			Labels:    []string{"product_bug", "automation_bug", "infrastructure"},
			Light:     &abi.LightAnswer{Classification: "product_bug", Confidence: 0.65, Reasoning: "two of three witnesses name the product"},
			Documents: []abi.Document{{Name: "log", Text: strings.Repeat("checkout_test.go:41: expected 200, got 503 after 3 retries\n", 35)}},
		},
	}
	for range 10 {
		v.Case.Evidence = append(v.Case.Evidence, abi.Evidence{
			SourceRef: "log:41", Content: "expected 200, got 503 after 3 retries", RelevanceConfidence: 0.8, Supports: "product_bug", Element: abi.Earth,
		})
	}
	return v
}

func response() *abi.NodeResponse {
	v := &abi.Indictment{ChargedDefectType: "product_bug", ProsecutionNarrative: strings.Repeat("The service refused. ", 10), Confidence: 0.7}
	for _, e := range request().Case.Evidence {
		v.Evidence = append(v.Evidence, abi.IndictmentItem{SourceRef: e.SourceRef, Content: e.Content, Weight: 0.4, Supports: e.Supports, Element: e.Element})
	}
	return &abi.NodeResponse{Artifact: &abi.Artifact{Indictment: v}}
}

func BenchmarkNodeRequest(b *testing.B) {
	benchmark(b, request(), "node_request", codec.AppendNodeRequest, codec.DecodeNodeRequest)
}

func BenchmarkNodeResponse(b *testing.B) {
	benchmark(b, response(), "node_response", codec.AppendNodeResponse, codec.DecodeNodeResponse)
}

func benchmark[T any](b *testing.B, v *T, name string, encode func([]byte, *T) []byte, decode func([]byte, int) (T, error)) {
	b.Helper()
	message := encode(nil, v)
	reflected, err := msgpack.Marshal(v)
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]byte, 0, 2*len(message))
	run := func(name string, size int, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(size))
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("encode", len(message), func() error { dst = encode(dst[:0], v); return nil })
	run("encode/reflection", len(reflected), func() error { _, err := msgpack.Marshal(v); return err })
	run("decode", len(message), func() error { _, err := decode(message, 0); return err })
	run("decode/layout", len(message), func() error {
		if _, ok := messageNamed(b, name).ReadByLayout(message); !ok {
			return errors.New("is not read by layout")
		}
		return nil
	})
	run("decode/reflection", len(reflected), func() error { var w T; return msgpack.Unmarshal(reflected, &w) })
}
