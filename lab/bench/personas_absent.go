//go:build !personas

package main

const personasLinked = false

func personas() map[string]persona { return nil }
