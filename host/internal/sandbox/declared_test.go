package sandbox

import (
	"errors"
	"testing"
)

// Each instance takes up memory for what its module declares.
func TestDeclarationsAreBounded(t *testing.T) {
	t.Parallel()
	m := small(echoBody)
	m.Globals = maxDeclared + 1
	_, err := open(t, Config{}).Load(t.Context(), m.Bytes())
	var rejected *LoadError
	if !errors.As(err, &rejected) || !rejected.Has(FaultMemoryTooLarge) {
		t.Errorf("%d globals: %v", m.Globals, err)
	}
}
