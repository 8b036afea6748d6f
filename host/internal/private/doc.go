// Package private tells folders that only this user writes to from others. What is in them is trusted: machine code, and answers of
// language models.
package private
