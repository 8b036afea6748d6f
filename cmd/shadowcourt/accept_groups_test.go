package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
)

func TestAccept_HS6_CommandsInGroups(t *testing.T) {
	t.Parallel()
	shown, byName := 0, map[string]*cobra.Command{}
	for _, cmd := range commands(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}) {
		byName[cmd.Name()] = cmd
		if !cmd.IsAvailableCommand() {
			continue
		}
		shown++
		if cmd.GroupID == "" {
			t.Errorf("%s is in no group", cmd.Name())
		}
	}
	if shown == 0 || shown > 15 {
		t.Errorf("the help shows %d commands", shown)
	}
	for parent, names := range map[string]string{"record": "key replay verify", "pipeline": "graph lint schema"} {
		for name := range strings.FieldsSeq(names) {
			sub, _, err := byName[parent].Find([]string{name})
			if err != nil || sub.Name() != name {
				t.Errorf("%s %s: %v, %v", parent, name, sub, err)
			}
			if old := byName[name]; old == nil || !old.Hidden || old.Short != sub.Short {
				t.Errorf("%s is no hidden name of %s %s", name, parent, name)
			}
		}
	}
}
