// Package jsonlex is the grammar of JSON (RFC 8259) for a text in memory: it finds where a token ends, reads the
// content of a string, and writes strings. It builds no values and tracks no nesting, except up to the depth that a
// [Skipper] is given. The packages that read JSON themselves use it: client/meta, patch and its parts, and
// internal/codec, fieldset, jsonstream, overlay and protobuf.
//
// # Positions
//
// A function that finds the end of something takes the position of its start, and returns the position after it. If
// the text is not JSON there, the result is negative: ^at says that the byte at position at does not fit, and
// ^len(text) that the text ends too early. This allocates nothing.
//
// The end of a token does not depend on the bytes after it: in 01 the number is 0, and ends before the 1.
// [AfterColon], [AfterComma] and [AfterOpen] check what comes next, and a [Skipper] checks a whole value.
//
// # Text that is not Unicode
//
// Bytes that are not UTF-8, and escapes of half a surrogate pair, count as JSON, as in encoding/json: the replacement
// character U+FFFD stands for each of them.
//
// # Text that is not checked
//
// [IndexQuote], [ClosingQuote] and [IsScalar] find the end of a token without checking its content. They are for text
// that is known to be JSON, and for framing, which leaves the check of the contents to the decoder.
package jsonlex
