// Package tree represents JSON documents that package patch and its parts change. A document is text, and only the
// objects and lists that matter are opened. Everything else is written as it was, numbers digit by digit.
//
// [Read] checks a text and returns a [Source], whose [Source.Root] is the first [Node]. [Node.Open] turns an object or
// a list into a [Branch], which can be changed; [Node.AppendTo] writes the result. Opening a node does not change its
// source. A Node is not safe for concurrent use.
package tree
