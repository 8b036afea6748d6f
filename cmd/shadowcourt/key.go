package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host/outfile"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// keyVariable has the key where no flag names one.
const keyVariable = "SHADOWCOURT_KEY"

// keyFromEnv begins the name of a variable that has the key.
const keyFromEnv = "env:"

// maxKeyBytes is the largest file of a key that is read.
const maxKeyBytes = 64 << 10

func newKey(s stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "key",
		Short:   "Make keys that records are signed with",
		Example: "  shadowcourt key new signing.key",
		Args:    noSuchCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKeyNew(s))
	return cmd
}

func newKeyNew(s stdio) *cobra.Command {
	var shared bool
	cmd := &cobra.Command{
		Use:   "new FILE",
		Short: "Make a key",
		Long: `Make a key: an Ed25519 key in PKCS#8, which signs, in FILE, and in FILE.pub the public
key, which only verifies and is for everybody. With --hmac it is a shared key for
HMAC-SHA256: who verifies with it can sign with it, too. A file that is there is never
written over; a FILE without its FILE.pub, as after a crash, gets that.`,
		Example: "  shadowcourt key new my.key\n  shadowcourt key new --hmac shared.key",
		Args:    exactArgs(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			return makeKey(s.out, args[0], shared)
		},
	}
	cmd.Flags().BoolVar(&shared, "hmac", false, "a shared key for HMAC-SHA256, in place of a pair")
	return cmd
}

func makeKey(out io.Writer, name string, shared bool) error {
	create := record.NewKey
	if shared {
		create = record.NewSharedKey
	}
	key, err := create(rand.Reader)
	if err != nil {
		return err
	}
	secret, err := key.PEM()
	if err != nil {
		return err
	}
	if err := createKey(name, secret, 0o600); err != nil {
		if !shared && errors.Is(err, fs.ErrExist) && !outfile.Exists(name+".pub") {
			return finishPair(out, name, err)
		}
		return err
	}
	if shared {
		_, err = fmt.Fprintf(out, "%s\nsecret  %s\n", key, inertLine(name))
		return err
	}
	public, err := key.PublicPEM()
	if err != nil {
		return err
	}
	if err := createKey(name+".pub", public, 0o644); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	_, err = fmt.Fprintf(out, "%s\nsecret  %s\npublic  %s.pub\n", key, inertLine(name), inertLine(name))
	return err
}

// finishPair writes the public key beside a secret one that has none, as a run that was killed between the two leaves it.
func finishPair(out io.Writer, name string, exists error) error {
	text, err := readBounded(name, maxKeyBytes)
	if err != nil {
		return exists
	}
	key, err := record.ParseKey(text)
	if err != nil || key.Shared() || !key.Signs() {
		return exists
	}
	public, err := key.PublicPEM()
	if err != nil {
		return err
	}
	if err := createKey(name+".pub", public, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\nsecret  %s, which was there already without its public key\npublic  %s.pub\n", key, inertLine(name), inertLine(name))
	return err
}

// createKey writes a file that must not be there yet.
func createKey(name string, data []byte, mode fs.FileMode) error {
	err := outfile.CreateNew(name, data, mode)
	if errors.Is(err, fs.ErrExist) {
		err = existsError{name}
	}
	return fileError(err)
}

// existsError is fs.ErrExist of the file of a key.
type existsError struct{ name string }

func (e existsError) Error() string {
	return e.name + " is there already, and a key is never written over: remove it if nothing was signed with it, or use another name"
}

func (existsError) Is(target error) bool { return target == fs.ErrExist }

// keyFlag adds --key.
func keyFlag(cmd *cobra.Command, name *string, use string) {
	cmd.Flags().StringVar(name, "key", "", use+": a file, or "+keyFromEnv+"NAME for a variable that holds it (default: the variable "+keyVariable+")")
}

// loadKey reads a key. Nothing of it gets into an error, not even where its
// text was given in place of a name.
func loadKey(name string) (*record.Key, error) {
	variable, fromEnv := strings.CutPrefix(name, keyFromEnv)
	switch {
	case looksSecret(variable):
		return nil, errors.New("--key: that looks like the text of a key; give the name of its file, or " + keyFromEnv + "NAME for a variable that holds it")
	case name == "" && os.Getenv(keyVariable) == "":
		return nil, fmt.Errorf("which key? use --key FILE, --key %sNAME or the variable %s; `shadowcourt key new` makes one", keyFromEnv, keyVariable)
	case name == "":
		variable, fromEnv = keyVariable, true
	}
	if fromEnv {
		return variableKey(variable)
	}
	text, err := readBounded(name, maxKeyBytes)
	if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	key, err := record.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("--key %s: %w", name, err)
	}
	return key, nil
}

func variableKey(variable string) (*record.Key, error) {
	text := os.Getenv(variable)
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("--key: the variable %s is empty or not there", variable)
	}
	key, err := record.ParseKey([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the variable %s, which must hold the text of a key and not the name of its file: %w", variable, err)
	}
	return key, nil
}

// secretLike is a line of the text of a key: 32 bytes and more in base64 or in hex.
var secretLike = regexp.MustCompile(`^[A-Za-z0-9+/_-]{43,}=*$`)

// looksSecret says whether a name may be the text of a key.
func looksSecret(name string) bool {
	return strings.ContainsAny(name, "\r\n") || strings.Contains(name, "-----") || secretLike.MatchString(name) && !outfile.Exists(name)
}

// readBounded reads a file, of which it takes no more than so many bytes.
func readBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, most))
}
