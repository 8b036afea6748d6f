package main

import "io"

func convert(c config, log io.Writer) error { return nil }
