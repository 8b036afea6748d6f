package strictyaml_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// What a tag calls a value is no value of the kind for that.
func TestTagsThatDoNotFit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"flag: !!bool maybe": `f.yaml:1:7: flag: want true or false, not the flag maybe (quote it to make it a text) [wrong_type]`,
		"count: !!int many":  `f.yaml:1:8: count: want an integer of 64 bits, not the number many [out_of_range]`,
		"share: !!float all": `f.yaml:1:8: share: want a finite number, not the number all [out_of_range]`,
	} {
		r := strictyaml.Reader{File: "f.yaml"}
		var target struct {
			Flag  bool    `yaml:"flag"`
			Count int     `yaml:"count"`
			Share float64 `yaml:"share"`
		}
		r.Struct(r.Document([]byte(text), 100), "", &target, nil)
		if err := r.Err(); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
