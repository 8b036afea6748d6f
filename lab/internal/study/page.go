package study

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Table is one table of a page, in Markdown.
type Table struct{ Name, Text string }

// Save writes tables as CSV into a folder, or without a folder prints them.
func Save(folder string, tables []Table, out io.Writer) error {
	if folder != "" {
		return writeCSV(folder, tables)
	}
	for _, t := range tables {
		if _, err := fmt.Fprintf(out, "### %s\n\n%s\n", t.Name, t.Text); err != nil {
			return err
		}
	}
	return nil
}

// Write puts tables between their marks in a page, <!-- NAME --> and <!-- /NAME -->.
func Write(page string, tables []Table) error {
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

// writeCSV writes each table into a folder, as NAME.csv with dashes for spaces. A table of several parts has the line that
// stands before each part as its first column.
func writeCSV(folder string, tables []Table) error {
	err := os.MkdirAll(folder, 0o755)
	for _, t := range tables {
		var out bytes.Buffer
		w := csv.NewWriter(&out)
		part, parts := "", strings.Contains(t.Text, ":\n\n|")
		for line := range strings.Lines(t.Text) {
			switch line = strings.TrimSpace(line); {
			case strings.HasPrefix(line, "| ---"):
			case strings.HasPrefix(line, "|"):
				cells := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "\x00"), "|"), "|")
				for i := range cells {
					cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|")
				}
				if parts {
					cells = append([]string{part}, cells...)
				}
				err = errors.Join(err, w.Write(cells))
			case line != "":
				part = strings.TrimSuffix(line, ":")
			}
		}
		w.Flush()
		name := strings.ReplaceAll(t.Name, " ", "-") + ".csv"
		err = errors.Join(err, w.Error(), os.WriteFile(filepath.Join(folder, name), out.Bytes(), 0o644))
	}
	return err
}
