// Package jsonstream takes the JSON bodies of the Kubernetes API apart, one object at a time: the items of a list, the
// events of a watch, or a single object. It reads each object's identity, cuts metadata.managedFields out of it, and
// hands on its bytes; it decodes nothing else.
//
// # What is guaranteed
//
// Framing is exact. Every brace, bracket, colon and comma of the body is checked, inside the objects too, so an object
// ends where it ends, and a broken or cut body is an error that names the byte, never a short list. [io.EOF] is returned
// only after a complete body with nothing but white space behind it, [io.ErrUnexpectedEOF] (wrapped) when the body is
// cut. After an error every further call returns the same error.
//
// Identity is what the object's own decoding gives, whatever type it is decoded into: names are case-sensitive and
// compared unescaped, of members with the same name the last one counts, only the object's top-level metadata is looked
// at, and a value of another type than string counts as empty.
//
// Memory is one object and a read buffer: of 64 KiB for a list, and for a watch of 16 KiB while it waits and up to 128 KiB
// while much arrives at once. Object size and nesting are bounded while reading, as [Options] says; a [LimitError] names
// the bound and, where it is known, the object. An object of a list or a watch that exceeds a bound is skipped, and the rest
// goes on; its identity is read all the same, wherever in the object it is, and its brackets, colons and commas are checked.
// Only one that does not end is given up. The number of items is not bounded, because nothing is kept of
// them. Namespaces that come again are one string. An object's name, uid and resource version share their memory with each
// other only: who keeps one of them keeps some 80 bytes.
//
// A frame that has arrived is never held back: nothing is read from the network while the buffer holds a whole item or
// event. So who is asked to read knows that all items and events before have been returned by Next.
//
// # What is not
//
// The contents of strings, numbers and literals inside an object are not examined: an object with a bad escape, a
// control byte or a misspelt literal is framed like any other, and its decoding reports it. So one bad object does not
// cost the others.
//
// The types are not safe for concurrent use, and the bytes of an item are valid only until the next call.
package jsonstream
