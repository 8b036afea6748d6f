package try

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
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
	for old, option := range map[string]string{"record-bytes": "bytes", "record-digests-only": "digests", "store": "store"} {
		cli.Alias(f, old, "record", option)
	}
	open.KeyFlag(cmd, &o.key, "with --record: the key that signs")
}

// checkRecord rejects flags of the record that contradict each other.
func (o *tryOptions) checkRecord() error {
	r := &o.record
	switch {
	case r.file == "" && (r.key != "" || r.bytes || r.digestsOnly):
		return errors.New("--key, and the options bytes and digests, need --record FILE, the file to write")
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
