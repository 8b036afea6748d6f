package chat

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	promptfile "github.com/shadowcourt/shadowcourt/abi/prompt"
)

// What the host takes for a placeholder has a value here.
func TestEveryPlaceholderHasAValue(t *testing.T) {
	t.Parallel()
	q, r := &Question{}, &abi.NodeRequest{}
	for _, name := range promptfile.Placeholders() {
		if _, ok := q.plain(r, name); ok {
			continue
		}
		if _, ok := q.values(r, "{"+name+"}", 1000)[name]; !ok {
			t.Errorf("{%s} has no value", name)
		}
	}
}
