// Package record keeps what happened in trials so that it can be shown afterwards: a file of entries, each signed and each naming the one
// before.
//
// A record is a text file. Each line is an entry: a DSSE envelope around an in-toto Statement, whose predicate is an [Entry]. The first
// entry is the [Header], with all that results depend on besides cases and modules; before the first trial, and wherever modules were
// swapped, there is a [Generation]; then come the trials in the order of the docket, each with the [Audit] of its verdict if one was asked
// for, and at last a [Closing] with their number. A [Statement] of another type may stand before it. An entry has the SHA-256 of the line
// before it, so that none can be changed, moved, added or left out in the middle; since each is signed by itself, what is before the place
// where a file was cut stays as good as it was.
//
// A record holds no times and no random numbers: the same cases, modules, configuration and key give the same bytes. docs/records.md has
// the format.
//
// The digest of a state is the SHA-256 over its entries, sorted by key: of each the length of the key (4 bytes, big endian), the key, and
// the SHA-256 of the entry's canonical encoding. A key is the channel, a zero byte, and the entry's position in the channel, each part
// prefixed with its length.
//
// [Create] and [Resume] write records, [Verify] verifies one with a key, [Compare] says where two trials of a case part, and a [Store]
// keeps modules by their digests. The host replays.
package record
