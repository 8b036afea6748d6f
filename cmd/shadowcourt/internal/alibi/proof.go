package alibi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/alibi/investigate"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/repo"
)

// proofOptions are the flags about the proof.
type proofOptions struct{ file, key string }

func (o *proofOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.file, "proof", "", "new file for the signed proof: the record of the trials with in-toto statements of the answers, which "+
		"'shadowcourt record verify' and 'shadowcourt record replay' read")
	open.KeyFlag(cmd, &o.key, "with --proof: the key that signs, which the tests must not be able to read")
}

// check rejects what would only fail when all tests were run.
func (o *proofOptions) check() error {
	if o.file == "" {
		if o.key != "" {
			return errors.New("--key needs --proof FILE, the file to write")
		}
		return nil
	}
	if _, err := os.Lstat(o.file); err == nil {
		return o.exists()
	}
	if folder, err := os.Stat(filepath.Dir(o.file)); err != nil || !folder.IsDir() {
		return fmt.Errorf("--proof: %s is not in a folder that is there", o.file)
	}
	key, err := open.Key(o.key)
	if err == nil && !key.Signs() {
		err = errors.New("--key: the key is a public one, which can't sign; `shadowcourt record key new FILE` makes one that does")
	}
	return err
}

func (o *proofOptions) exists() error {
	return fmt.Errorf("--proof: %s is there already, and a proof is never written over: remove it or use another name", o.file)
}

// proof is what a run proves of a change, and its proof, which is written when the run is over. A nil one does nothing.
type proof struct {
	options    *proofOptions
	repository *repo.Repository
	change     alibi.Change
	text       bytes.Buffer
	key        *record.Key
	prover     *alibi.Prover // nil where no proof is written
	answered   []string
}

// openProof notes the tree under test, before anything is run.
func (o *options) openProof(ctx context.Context, stderr io.Writer, config *host.Config, c *investigate.Change) (*proof, error) {
	if o.proof.file == "" && o.server.url == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	p := &proof{options: &o.proof, repository: c.Repository, change: alibi.Change{Head: c.Head, Base: c.Base.Commit, Why: c.Base.Why, Target: c.Target}}
	var err error
	if p.change.Tool, err = tool(); err != nil {
		return nil, err
	}
	head, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	if o.proof.file == "" {
		return p, nil
	}
	config.Record = record.ContentsReplay
	open.WarnOfKey(stderr, o.proof.key)
	if inTree(head, o.proof.key) {
		fmt.Fprintf(stderr, "warning: the key %s is a file of the tree under test, whose tests can read it: keep it elsewhere\n", sanitize.Line(o.proof.key))
	}
	return p, nil
}

// workTree is the tree under test.
type workTree struct {
	*repo.Tree
	top         string
	digest      record.Digest
	uncommitted bool
}

// look reads the tree under test as experiments do.
func (p *proof) look(ctx context.Context) (*workTree, error) {
	committed, err := p.repository.At(ctx, p.change.Head)
	if err != nil {
		return nil, err
	}
	head, err := p.repository.Head(ctx)
	if err != nil {
		return nil, err
	}
	w := &workTree{head, p.repository.Top(), record.Digest(head.Digest()), len(head.Changed(committed)) > 0}
	if p.change.Tree == "" {
		p.change.Tree, p.change.Uncommitted = w.digest, w.uncommitted
	}
	return w, nil
}

// inTree says whether a file is one of the tree.
func inTree(w *workTree, name string) bool {
	path, err := filepath.Abs(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(w.top, path)
	if err != nil {
		return false
	}
	_, there := w.File(filepath.ToSlash(rel))
	return there
}

// tool is this program.
func tool() (alibi.Tool, error) {
	t := alibi.Tool{Name: "shadowcourt", Version: "devel"}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		t.Version = info.Main.Version
	}
	name, err := os.Executable()
	if err != nil {
		return t, fmt.Errorf("--proof: this program's file is not known: %w", err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return t, fmt.Errorf("--proof: %w", err)
	}
	t.Digest = record.DigestOf(data)
	return t, nil
}

// begin begins the record of the trials.
func (p *proof) begin(ctx context.Context, court *alibi.Court) (err error) {
	if p == nil || p.options.file == "" {
		return nil
	}
	if p.key, err = open.Key(p.options.key); err != nil {
		return cli.InputError(err)
	}
	p.prover, err = court.Prove(ctx, &p.text, p.key)
	return err
}

func (p *proof) add(asked *alibi.Asked) error {
	if p == nil || p.prover == nil {
		return nil
	}
	p.answered = append(p.answered, asked.Answer.ID)
	return p.prover.Add(asked)
}

// write writes the proof of a run that came to its end.
func (p *proof) write(ctx context.Context, failures []docket.Entry) error {
	if p == nil {
		return nil
	}
	now, err := p.look(ctx)
	if err != nil {
		return err
	}
	if commit, err := p.repository.Commit(ctx, "HEAD"); err != nil || commit != p.change.Head || now.digest != p.change.Tree {
		return errors.Join(errors.New("nothing was proved or sent: the files of --source changed while the tests were run; give the command again"), err)
	}
	if p.prover == nil {
		return nil
	}
	var missing []string
	for i := range failures {
		if id := failures[i].Case.ID; !slices.Contains(p.answered, id) {
			missing = append(missing, id)
		}
	}
	if err := p.prover.Finish(&p.change, missing); err != nil {
		return err
	}
	err = disk.CreateNew(p.options.file, p.text.Bytes(), 0o600)
	if errors.Is(err, fs.ErrExist) {
		err = p.options.exists()
	}
	return cli.FileError(err)
}
