// Package strictjson finds what readers of JSON could take for different things.
package strictjson

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// MsgDuplicateKey ends what is said of a key that an object has twice.
const MsgDuplicateKey = "occurs twice"

// UniqueKeys reads a value that is JSON, and rejects keys that an object of it has twice: encoding/json would take the last. With anyCase, keys
// that only the case of letters tells apart are one, as encoding/json has it for fields.
func UniqueKeys(d *json.Decoder, anyCase bool) error { return uniqueKeys(d, anyCase, "") }

func uniqueKeys(d *json.Decoder, anyCase bool, path string) error {
	t, err := d.Token()
	open, ok := t.(json.Delim)
	if err != nil || !ok {
		return err
	}
	seen := map[string]bool{}
	for i := 0; d.More(); i++ {
		at := path + "[" + strconv.Itoa(i) + "]"
		if open == '{' {
			t, err := d.Token()
			if err != nil {
				return err
			}
			key, _ := t.(string)
			folded := key
			if anyCase {
				folded = strings.ToLower(strings.ToUpper(key)) // encoding/json takes ſ for s
			}
			if at = strings.TrimPrefix(path+"."+key, "."); seen[folded] {
				return fmt.Errorf("the key %.80q %s", at, MsgDuplicateKey)
			}
			seen[folded] = true
		}
		if err := uniqueKeys(d, anyCase, at); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
