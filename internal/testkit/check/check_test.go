package check_test

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

type told struct {
	testing.TB
	texts []string
}

func (t *told) Helper() {}

func (t *told) Errorf(format string, args ...any) {
	t.texts = append(t.texts, fmt.Sprintf(format, args...))
}

func TestOnlyWhatIsWrongIsReported(t *testing.T) {
	t.Parallel()
	for want, value := range []int{2, 1} { // the second is right
		text := strconv.Itoa(value)
		var b told
		check.Equal(&b, value, 1)
		check.Same(&b, text[want:], "what")
		check.Len(&b, make([]int, value), 1, "what")
		check.Contains(&b, text, "1", "what")
		check.Fails(&b, []error{nil, errors.New("a 1")}[want], "1", "what")
		check.Fails(&b, errors.New(text), "1", "what")
		check.Is(&b, check.Err(0, []error{nil, fmt.Errorf("at %w", io.EOF)}[want]), io.EOF, "what")
		if len(b.texts) != 7*(1-want) {
			t.Errorf("%d: %q", value, b.texts)
		}
	}
}
