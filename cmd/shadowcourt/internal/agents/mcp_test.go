package agents

import (
	"strings"
	"testing"
)

func TestListenSaysWhatAnAddressIs(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1", "8711", "0.0.0.0:0", "example.com:8711"} {
		listener, err := listen(t.Context(), address)
		if err == nil {
			_ = listener.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "such as 127.0.0.1:8711") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
