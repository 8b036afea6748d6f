package model

// NewKey makes a key of its value.
func NewKey(value string) Key { return newKey(value) }
