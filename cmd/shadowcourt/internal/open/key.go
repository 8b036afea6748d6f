package open

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// keyVariable has the key where no flag names one.
const keyVariable = "SHADOWCOURT_KEY"

// keyFromEnv begins the name of a variable that has the key.
const keyFromEnv = "env:"

// MaxKeyBytes is the largest file of a key that is read.
const MaxKeyBytes = 64 << 10

// KeyFlag adds --key.
func KeyFlag(cmd *cobra.Command, name *string, use string) {
	cmd.Flags().StringVar(name, "key", "", use+": a file, or "+keyFromEnv+"NAME for a variable that holds it (default: the variable "+keyVariable+")")
}

// KeyVariable is the variable that a name of a key stands for; empty for a file.
func KeyVariable(name string) string {
	variable, fromEnv := strings.CutPrefix(name, keyFromEnv)
	if !fromEnv {
		return ""
	}
	return variable
}

// Key reads a key. Nothing of it gets into an error, not even where its text was given in place of a name.
func Key(name string) (*record.Key, error) {
	variable, fromEnv := strings.CutPrefix(name, keyFromEnv)
	switch {
	case looksSecret(variable):
		return nil, errors.New("--key: that looks like the text of a key; give the name of its file, or " + keyFromEnv + "NAME for a variable that holds it")
	case name == "" && os.Getenv(keyVariable) == "":
		return nil, fmt.Errorf("which key? use --key FILE, --key %sNAME or the variable %s: to sign, a key that `shadowcourt record key new FILE` makes; "+
			"to verify, the FILE.pub of the key that signed", keyFromEnv, keyVariable)
	case name == "":
		variable, fromEnv = keyVariable, true
	}
	if fromEnv {
		return variableKey(variable)
	}
	text, err := ReadBounded(name, MaxKeyBytes)
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
	return strings.ContainsAny(name, "\r\n") || strings.Contains(name, "-----") || secretLike.MatchString(name) && !disk.Exists(name)
}

// ReadBounded reads a file, of which it takes no more than so many bytes.
func ReadBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, most))
}

// WarnOfKey warns of the file of a secret key that others than its owner may read or write. Keys of variables, public keys, and what is no
// file of its own such as a pipe, have no mode that says so.
func WarnOfKey(stderr io.Writer, name string) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	mode := info.Mode().Perm()
	if mode&modeOfOthers == 0 {
		return
	}
	if key, err := Key(name); err != nil || !key.Signs() {
		return
	}
	shown := sanitize.Line(name)
	fmt.Fprintf(stderr, "warning: others may read or write the secret key %s (mode %04o); `chmod 600 %s` keeps it to its owner\n", shown, mode, shown)
}
