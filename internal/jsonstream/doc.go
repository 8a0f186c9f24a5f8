// Package jsonstream splits the JSON bodies of the Kubernetes API into objects: the items of a list, the events of a
// watch, or a single object. It reads each object's identity, cuts metadata.managedFields out of it, and hands on its
// bytes; it decodes nothing else.
//
// # Guarantees
//
// Framing is exact. Every brace, bracket, colon and comma of the body is checked, inside the objects too. So the end
// of an object is never misjudged, and a broken or cut body is an error that names the byte, never a short list.
// [io.EOF] is returned only after a complete body that nothing but white space follows, and [io.ErrUnexpectedEOF]
// (wrapped) if the body is cut. After an error every further call returns the same error.
//
// The identity is the same as the one that decoding gives, for every Go type. Names are case-sensitive and compared
// unescaped. If an object has several members with the same name, the last one counts. Only the object's top-level
// metadata is read. A value that is not a string counts as empty.
//
// Memory is one object and a read buffer: 64 KiB for a list, and for a watch 512 bytes while it waits, 16 KiB for
// events that do not fit into that, and up to 128 KiB while much arrives at once. Object size and nesting are bounded
// while reading, as [Options] says; a [LimitError] names the bound and, if it is known, the object. An object of a list
// or a watch that exceeds a bound is skipped, and the rest goes on. Its identity is still read, wherever in the object
// it is, and its brackets, colons and commas are checked. Reading gives up only on an object that is longer than 16
// times MaxObject and than 32 MiB, or that has more than 65,536 open brackets. The number of items is not bounded,
// because nothing is kept of them. A namespace that repeats is stored once. An object's name, uid and resource version
// share their memory with each other only: a program that keeps one of them keeps about 80 bytes.
//
// A frame that has arrived is never held back: nothing is read from the network while the buffer holds a whole item or
// event. So when the reader is called, Next has already returned all items and events before that.
//
// # What is not guaranteed
//
// The contents of strings, numbers and literals inside an object are not examined. An object with a bad escape, a
// control byte or a misspelt literal is framed like any other, and its decoding reports it. So one bad object does not
// affect the others.
//
// The types are not safe for concurrent use, and the bytes of an item are valid only until the next call.
package jsonstream
