// Package tree has JSON documents as package patch and its parts change them: as text, of which only those objects and lists are opened
// that have to be looked into. Everything else is written as it was, numbers digit by digit.
//
// [Read] checks a text and makes a [Source] of it, whose [Source.Root] is the [Node] to begin with. [Node.Open] makes a [Branch] of an
// object or a list, which can be changed; [Node.AppendTo] writes the result. Opening a node does not change its source. A Node is not
// safe for concurrent use.
package tree
