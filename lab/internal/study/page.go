package study

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
)

// Table is one table of a page, in Markdown.
type Table struct{ Name, Text string }

// Write puts tables between their marks in a page, <!-- NAME --> and <!-- /NAME -->, or without a page writes them out.
func Write(page string, tables []Table, out io.Writer) error {
	if page == "" {
		for _, t := range tables {
			if _, err := fmt.Fprintf(out, "### %s\n\n%s\n", t.Name, t.Text); err != nil {
				return err
			}
		}
		return nil
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	for _, t := range tables {
		name := regexp.QuoteMeta(t.Name)
		mark := regexp.MustCompile(`(?s)(<!-- ` + name + ` -->\n).*?(<!-- /` + name + ` -->)`)
		if !mark.Match(text) {
			return fmt.Errorf("%s: no place for the table %s", page, t.Name)
		}
		text = mark.ReplaceAllFunc(text, func(found []byte) []byte {
			parts := mark.FindSubmatch(found)
			return bytes.Join([][]byte{parts[1], []byte("\n" + t.Text + "\n"), parts[2]}, nil)
		})
	}
	return os.WriteFile(page, text, 0o644)
}
