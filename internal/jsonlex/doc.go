// Package jsonlex is the grammar of JSON (RFC 8259) over a text in memory: where a token ends, what a string reads, how
// a string is written. It builds no values and knows no depth but the one that it is given. The packages that read JSON
// on their own (client/meta, patch, internal/codec, internal/fieldset, internal/jsonstream) are made of it.
//
// # Positions
//
// A function that finds the end of something takes the position where it begins, and returns the position behind it.
// If the text is not JSON there, the result is negative: ^at says that the byte at position at does not fit, and
// ^len(text) that the text ends too early. No function allocates for it.
//
// The end of a token depends on nothing behind it: in 01 the number is 0, and ends before the 1. What may come next is
// checked with [AfterColon], [AfterComma] and [AfterOpen], or for a whole value with a [Skipper].
//
// # Text that is not Unicode
//
// Bytes that are not UTF-8, and escapes of half a surrogate pair, are JSON, as they are for encoding/json: the replacement
// character U+FFFD stands for each of them.
//
// # Text that is not checked
//
// [IndexQuote], [ClosingQuote] and [IsScalar] find the end of a token without a look at what is in it. They are for text that
// is known to be JSON, and for framing, which leaves the contents to the decoding.
package jsonlex
