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
	if p.LightAfter == nil {
		p.LightAfter = []Answer{}
	}
	if p.Path == nil {
		p.Path = []string{}
	}
	if p.Modules == nil {
		p.Modules = map[string]string{}
	}
	return encode(p)
}

type rulingJSON struct {
	Decision            abi.Decision `json:"decision"`
	FinalClassification *string      `json:"final_classification"`
	Confidence          float64      `json:"confidence"`
	Reasoning           string       `json:"reasoning"`
}

// MarshalJSON writes an empty classification as null.
func (r Ruling) MarshalJSON() ([]byte, error) {
	return encode(rulingJSON{r.Decision, orNull(r.FinalClassification), r.Confidence, r.Reasoning})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Ruling) UnmarshalJSON(data []byte) error {
	var w rulingJSON
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*r = Ruling{w.Decision, orEmpty(w.FinalClassification), w.Confidence, w.Reasoning}
	return nil
}

type finalJSON struct {
	Status         Status  `json:"status"`
	Classification *string `json:"classification"`
	Confidence     float64 `json:"confidence"`
	Cause          *Cause  `json:"cause"`
}

// MarshalJSON writes an empty classification and an empty cause as null.
func (f Final) MarshalJSON() ([]byte, error) {
	return encode(finalJSON{f.Status, orNull(f.Classification), f.Confidence, orNull(f.Cause)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Final) UnmarshalJSON(data []byte) error {
	var w finalJSON
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*f = Final{w.Status, orEmpty(w.Classification), w.Confidence, orEmpty(w.Cause)}
	return nil
}

// MarshalJSON writes no gaps as [].
func (b GapBrief) MarshalJSON() ([]byte, error) {
	type plain GapBrief
	p := plain(b)
	if p.Gaps == nil {
		p.Gaps = []Gap{}
	}
	return encode(p)
}

type failureJSON struct {
	Code     Cause     `json:"code"`
	Message  string    `json:"message"`
	Node     *string   `json:"node"`
	Persona  *string   `json:"persona"`
	Module   *string   `json:"module"`
	Problems []Problem `json:"problems"`
}

// MarshalJSON writes empty texts as null, and no problems as [].
func (f Failure) MarshalJSON() ([]byte, error) {
	w := failureJSON{f.Code, f.Message, orNull(f.Node), orNull(f.Persona), orNull(f.Module), f.Problems}
	if w.Problems == nil {
		w.Problems = []Problem{}
	}
	return encode(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Failure) UnmarshalJSON(data []byte) error {
	var w failureJSON
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*f = Failure{
		Code: w.Code, Message: w.Message, Node: orEmpty(w.Node), Persona: orEmpty(w.Persona), Module: orEmpty(w.Module),
		Problems: w.Problems,
	}
	return nil
}

func orNull[S ~string](s S) *S {
	if s == "" {
		return nil
	}
	return &s
}

func orEmpty[S ~string](s *S) S {
	if s == nil {
		return ""
	}
	return *s
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
