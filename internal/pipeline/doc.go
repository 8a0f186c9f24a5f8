// Package pipeline is how the body of a list or a watch becomes objects that are handed on: it frames them, has them
// decoded by several goroutines, and hands them on in the order in which they came.
//
// [Pipeline.Page] and [Pipeline.Watch] are the two loops, in which all of that can be seen. The one goroutine that runs
// such a loop, the owner, frames and calls the functions that it was given; none of them is called by a Read.
package pipeline
