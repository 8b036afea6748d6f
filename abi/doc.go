// Package abi is the contract between the Shadowcourt host and its modules: the artifact types, their rules, the limits and the names of
// the binding.
//
// Every type that crosses the sandbox is a struct here whose fields carry an `abi` tag. The tag is the single source from which the codec,
// the JSON Schemas and the test vectors are generated:
//
//	abi:"name"              required, by its wire name
//	abi:"name,opt"          absent when zero: an empty string, an empty list, a nil pointer
//	abi:"name,default=X"    may be absent when read, then X; always written
//	abi:"name,min=A,max=B"  inclusive bounds of a number, of each number in a list of numbers,
//	                        of the length of any other list and of a map
//	abi:"name,nonempty"     a string, list or map that may not be empty
//
// A named string type with constants is an enumeration of just these; an optional one may also be empty, as good as absent. A pointer, to a
// struct or to a scalar, is always optional and absent when nil. Only string, bool, int, int64, float64, enumerations, structs, lists and
// maps with string keys are types of a message. Rules that one field cannot state stand in the type's Rules method; rules across artifacts
// are the Check functions. Both are prose in SPEC.md, under the same codes.
//
// The package imports only slices and strconv, so that a guest that links it stays small. Values are plain data: safe to read concurrently,
// not to write.
package abi

//go:generate go run ./internal/gen
