package records

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// All are the commands about records.
func All(s cli.Streams) []*cobra.Command {
	return []*cobra.Command{
		cli.Removed("explain", "use `shadowcourt try DOCKET --explain ID`, which explains a trial in prose, and `record replay`, which shows that it gives the same bytes"),
		newKey(s), newVerify(s), newReplay(s),
	}
}

// newKey is the command `key`.
func newKey(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "key",
		Short:   "Make keys that records are signed with",
		Example: "  shadowcourt record key new signing.key",
		Args:    cli.NoSuchCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKeyNew(s))
	return cmd
}

func newKeyNew(s cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "new FILE",
		Short: "Make a key",
		Long: `Make a key: an Ed25519 key in PKCS#8, which signs, in FILE, and in FILE.pub the public
key, which only verifies and is for everybody. A file that is there is never written
over; a FILE without its FILE.pub, as after a crash, gets that.`,
		Example: "  shadowcourt record key new my.key",
		Args:    cli.ExactArgs(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			return makeKey(s.Out, args[0])
		},
	}
}

func makeKey(out io.Writer, name string) error {
	key, err := record.NewKey(rand.Reader)
	if err != nil {
		return err
	}
	secret, err := key.PEM()
	if err != nil {
		return err
	}
	if err := createKey(name, secret, 0o600); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return finishPair(out, name, err)
		}
		return err
	}
	public, err := key.PublicPEM()
	if err != nil {
		return err
	}
	if err := createKey(name+".pub", public, 0o644); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	_, err = fmt.Fprintf(out, "%s\nsecret  %s\npublic  %s.pub\n", key, sanitize.Line(name), sanitize.Line(name))
	return err
}

// finishPair writes the public key beside a secret one that has none, as a run that was killed between the two leaves it. Beside one that
// has it, a temporary file of a killed run is removed.
func finishPair(out io.Writer, name string, exists error) error {
	text, err := open.ReadBounded(name, open.MaxKeyBytes)
	if err != nil {
		return exists
	}
	key, err := record.ParseKey(text)
	if err != nil || !key.Signs() {
		return exists
	}
	public, err := key.PublicPEM()
	if err != nil {
		return err
	}
	if err = createKey(name+".pub", public, 0o644); errors.Is(err, fs.ErrExist) {
		return exists
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\nsecret  %s, which was there already without its public key\npublic  %s.pub\n", key, sanitize.Line(name), sanitize.Line(name))
	return err
}

// createKey writes a file that must not be there yet.
func createKey(name string, data []byte, mode fs.FileMode) error {
	err := disk.CreateNew(name, data, mode)
	if errors.Is(err, fs.ErrExist) {
		err = existsError{name}
	}
	return cli.FileError(err)
}

// existsError is fs.ErrExist of the file of a key.
type existsError struct{ name string }

func (e existsError) Error() string {
	return e.name + " is there already, and a key is never written over: remove it if nothing was signed with it, or use another name"
}

func (existsError) Is(target error) bool { return target == fs.ErrExist }
