package trial

import (
	"bytes"
	"encoding/json"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// MarshalJSON writes empty lists as [] and missing values as null.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	p := plain(r)
	p.LightAfter, p.Path = append([]Answer{}, r.LightAfter...), append([]string{}, r.Path...)
	if p.Modules == nil {
		p.Modules = map[string]string{}
	}
	return encode(p)
}

// MarshalJSON writes an empty classification as null.
func (r Ruling) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Decision            abi.Decision `json:"decision"`
		FinalClassification *string      `json:"final_classification"`
		Confidence          float64      `json:"confidence"`
		Reasoning           string       `json:"reasoning"`
	}{r.Decision, orNull(r.FinalClassification), r.Confidence, r.Reasoning})
}

// MarshalJSON writes an empty classification and an empty cause as null.
func (f Final) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Status         Status  `json:"status"`
		Classification *string `json:"classification"`
		Confidence     float64 `json:"confidence"`
		Cause          *Cause  `json:"cause"`
	}{f.Status, orNull(f.Classification), f.Confidence, orNull(f.Cause)})
}

// MarshalJSON writes no gaps as [].
func (b GapBrief) MarshalJSON() ([]byte, error) {
	type plain GapBrief
	p := plain(b)
	p.Gaps = append([]Gap{}, b.Gaps...)
	return encode(p)
}

// MarshalJSON writes empty texts as null, and no problems as [].
func (f Failure) MarshalJSON() ([]byte, error) {
	return encode(struct {
		Code     Cause     `json:"code"`
		Message  string    `json:"message"`
		Node     *string   `json:"node"`
		Persona  *string   `json:"persona"`
		Module   *string   `json:"module"`
		Problems []Problem `json:"problems"`
	}{f.Code, f.Message, orNull(f.Node), orNull(f.Persona), orNull(f.Module), append([]Problem{}, f.Problems...)})
}

func orNull[S ~string](s S) *S {
	if s == "" {
		return nil
	}
	return &s
}

// encode writes a value as compact JSON that is safe to print on a terminal. `<`, `>` and `&` stay, since JSON is not HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return sanitize.JSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}
