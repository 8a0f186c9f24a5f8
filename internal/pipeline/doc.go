// Package pipeline turns the body of a list or a watch into objects: it frames them, decodes them on several
// goroutines, and hands them on in the order in which they arrived.
//
// The two loops that do this are [Pipeline.Page] and [Pipeline.Watch]. The goroutine that runs such a loop is the
// owner. It frames, and calls the functions that it was given, none of them from within a Read.
package pipeline
