// Package private tells folders and files that only this user writes to from others. What is in them is trusted: machine code, answers of
// language models, and tokens.
package private
