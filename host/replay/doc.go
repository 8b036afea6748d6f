// Package replay tries recorded trials again: the same modules, configuration and answers give the same bytes, or the first
// difference.
package replay
