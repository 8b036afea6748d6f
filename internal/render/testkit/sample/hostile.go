package sample

import (
	"reflect"
	"strconv"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Attack is a text that does something to whoever looks at it unguarded: markup and scripts, terminal escapes in both
// forms, bidirectional overrides, invisible characters, Markdown, table cells, a stray byte.
const Attack = "\x1b[31mred\x1b[0m | \\| \\\\| <script>alert(1)</script><img src=x onerror=alert(2)> \x1b]8;;http://evil.example\x07click\x1b]8;;\x1b\\ " +
	"\u009b2J \u202eevil\u202c \u2066iso\u2069 zero\u200bwidth\u200d\ufeff \x00\x07\x08\x7f over\rwrite " +
	"'\"></a></td></table>--> {{.}} | `code` ``` [x](javascript:alert(3)) ![i](http://evil.example/p.png) @team #1 http://evil.example " +
	"\xff\xc0 \u2028sep \U000e0041tag"

// Hostile is a trial whose every text is the attack. It gives the trial and how many texts that were.
func Hostile() (*trial.Trial, int) { return Filled(Attack) }

// Filled is a trial that has everything a trial can have, with every text replaced by the given one, each followed by a
// number, so that all differ. Texts of a named type stay, as in a redaction: they are vocabulary.
func Filled(text string) (*trial.Trial, int) {
	t := Amended()
	broken := Mistrial()
	t.Result.Error, t.Result.GapBrief = broken.Result.Error, broken.Result.GapBrief
	t.Passes = append(t.Passes, t.Passes[0])
	n := 0
	poison(reflect.ValueOf(t).Elem(), text, &n)
	return t, n
}

func poison(v reflect.Value, text string, n *int) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			*n++
			v.SetString(text + " n" + strconv.Itoa(*n))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			poison(field, text, n)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), text, n)
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text, n)
		}
	case reflect.Map:
		poisonMap(v, text, n)
	default:
	}
}

func poisonMap(v reflect.Value, text string, n *int) {
	out := reflect.MakeMap(v.Type())
	for _, key := range v.MapKeys() {
		k, e := reflect.New(key.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
		k.Set(key)
		e.Set(v.MapIndex(key))
		poison(k, text, n)
		poison(e, text, n)
		out.SetMapIndex(k, e)
	}
	v.Set(out)
}
