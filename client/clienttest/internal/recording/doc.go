// Package recording reads and writes files with the history of a cluster. It does not know about servers and requests.
//
// A file has one JSON object on each line. The first line is a [Header], every other line is a [Line]. A [File] writes
// them, a [Reader] reads them, and [Scan] returns the changes in the order in which a server plays them. A [Redactor]
// replaces the secrets of an object before it is written.
package recording
