package try

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// recordOptions are the flags of `try` about the record.
type recordOptions struct {
	file, key, store   string
	bytes, digestsOnly bool
}

func (o *recordOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	cli.OptionVar(f, &o.file, "record", "file for a signed record of every trial, which 'shadowcourt record verify' and 'shadowcourt record replay' read",
		cli.BoolOption(&o.bytes, "bytes", "keep what every call got and gave, too"),
		cli.BoolOption(&o.digestsOnly, "digests", "keep no text of cases, modules and answers; a replay then needs the docket"),
		cli.TextOption(&o.store, "store", "DIR", "folder that keeps each module under its digest, for a replay"))
	cli.Alias(f, "store", "record", "store")
	open.KeyFlag(cmd, &o.key, "with --record: the key that signs")
}

// checkRecord rejects flags of the record that contradict each other.
func (o *tryOptions) checkRecord() error {
	r := &o.record
	switch {
	case r.file == "" && (r.key != "" || r.bytes || r.digestsOnly || r.store != ""):
		return errors.New("--key, and the options bytes, digests and store, need --record FILE, the file to write")
	case r.file == "":
		return nil
	case r.bytes && r.digestsOnly:
		return errors.New("--record: bytes and digests exclude each other")
	case len(o.redact) > 0 && !r.digestsOnly:
		return errors.New("a record holds the cases as they are: with --redact use --record FILE,digests")
	case o.explain != "":
		return errors.New("--record keeps whole runs: leave out --explain, which tries one case")
	}
	_, err := open.Key(r.key)
	return err
}

// configure has the host note what is recorded.
func (o *recordOptions) configure(config *host.Config) {
	if o.store != "" {
		config.Store = record.OpenStore(o.store)
	}
	if o.file == "" {
		return
	}
	switch config.Record = record.ContentsReplay; {
	case o.bytes:
		config.Record = record.ContentsBytes
	case o.digestsOnly:
		config.Record = record.ContentsDigests
	}
}

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
func (o *tryOptions) settings(inputs *run.Dockets) []record.Part {
	var parts []record.Part
	add := func(name, value string) {
		parts = append(parts, record.Part{Name: name, Digest: record.DigestOf([]byte(value))})
	}
	if o.watch {
		add("--watch", "true")
	}
	if o.noGroups {
		add("--from no-groups", "true")
	}
	add("--light", o.LightFor(inputs))
	add("--redact", strings.Join(o.redact, "\x00"))
	add("--timings", strconv.FormatBool(o.timings))
	return parts
}
