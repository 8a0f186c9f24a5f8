// Package memnet is a network inside the process: a listener and the connections that clients dial to it.
//
// The package uses no sockets. A goroutine that waits for a connection, for data or for room waits on a sync.Cond, and
// a deadline is a timer. So a server and its clients can run in a bubble of testing/synctest: the bubble counts such a
// goroutine as idle, and its clock advances. A listener and its connections belong to the bubble in which they were
// made.
//
// Connections behave as TCP connections do, as far as a program can observe. Each direction has a buffer of
// [BufferSize] bytes, so two ends that both write first do not wait for each other, and a writer whose peer does not
// read blocks once the buffer is full. After Close, the peer reads what was written and then io.EOF; [Conn.CloseWrite]
// does so for one direction. [Conn.Reset] drops the bytes in flight, and the peer gets syscall.ECONNRESET; after
// [Conn.Break], the peer reads the bytes in flight first. Errors are *net.OpError values around the error that TCP
// would give, so errors.Is and net.Error's Timeout work. Frozen connections and refused dials are not simulated here:
// see client/clienttest.
package memnet
