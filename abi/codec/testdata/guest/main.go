// Command guest decodes messages with the codec as it is built for modules.
// Each line of its input is a type, a size limit and a message in hex; each line
// of its output is the canonical form in hex, or the problems.
package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

func main() {
	in := bufio.NewReader(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		parts := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		fmt.Fprintln(out, answer(parts[0], parts[1], parts[2]))
	}
	if err := out.Flush(); err != nil {
		os.Exit(1)
	}
}

func answer(name, limit, message string) string {
	maxBytes, err := strconv.Atoi(limit)
	if err != nil {
		return err.Error()
	}
	data, err := hex.DecodeString(message)
	if err != nil {
		return err.Error()
	}
	t, ok := codec.Lookup(name)
	if !ok {
		return "no type " + name
	}
	canonical, err := t.Canonical(data, maxBytes)
	if rejected, ok := errors.AsType[*abi.ValidationError](err); ok {
		return fmt.Sprintf("%+q", rejected.Problems) + strconv.Itoa(rejected.Omitted)
	}
	return hex.EncodeToString(canonical)
}
