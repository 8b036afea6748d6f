package try

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/input"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// checkResume validates --resume with the other flags.
func (o *tryOptions) checkResume() error {
	switch {
	case !o.resume:
		return nil
	case o.explain != "":
		return errors.New("--resume continues with whole runs: leave out --explain, which tries one case")
	case o.journalName() == "":
		return errors.New("--resume needs the file of an earlier run to continue with: --output FILE, --report FILE or --record FILE")
	}
	return nil
}

// checkRemember validates --remember with the other flags.
func (o *tryOptions) checkRemember() error {
	if o.Remember && o.explain != "" {
		return errors.New("--remember keeps whole runs: leave out --explain, which tries one case")
	}
	if o.Remember && len(o.redact) > 0 {
		return errors.New("--remember keeps the text of the cases as it is: leave out --redact")
	}
	return nil
}

// journal is that of the run: beside --output, or else beside the first --report or the record. A run keeps none whose outputs are devices or
// pipes, which can't be resumed.
func (o *tryOptions) journal() run.Journal {
	j := run.Journal{
		Whole:     o.format == "table" || len(o.reports) > 0 || o.cases != "",
		Documents: o.cases != "",
		Outputs:   "--format or --report",
	}
	if o.explain != "" {
		return j
	}
	for _, name := range slices.Concat([]string{o.output}, o.reports, []string{o.record.file}) {
		if name == "" {
			continue
		}
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			continue
		}
		j.Output = name
		break
	}
	return j
}

func (o *tryOptions) journalName() string {
	j := o.journal()
	return j.Name()
}

// settings are the flags that results depend on.
func (o *tryOptions) settings(inputs *input.Dockets) []record.Part {
	var parts []record.Part
	add := func(name, value string) {
		parts = append(parts, record.Part{Name: name, Digest: record.DigestOf([]byte(value))})
	}
	if o.watch {
		add("--watch", "true")
	}
	if o.noGroups {
		add("--no-groups", "true")
	}
	add("--light", o.LightFor(inputs))
	add("--redact", strings.Join(o.redact, "\x00"))
	add("--timings", strconv.FormatBool(o.timings))
	return parts
}
