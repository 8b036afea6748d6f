package abitest_test

import (
	"fmt"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// hostCodec is the codec that the host reads every module's answer with.
func hostCodec(typeName string, data []byte, limit int) ([]byte, error) {
	t, ok := codec.Lookup(typeName)
	if !ok {
		return nil, fmt.Errorf("the codec has no type %q", typeName)
	}
	return t.Canonical(data, limit)
}

func TestAccept_FR10_HostCodecRejectsEveryClassOfEveryType(t *testing.T) {
	t.Parallel()
	abitest.Run(t, hostCodec)
}
