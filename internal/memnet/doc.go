// Package memnet is a network inside the process: a listener and the connections that are dialled to it.
//
// Nothing here touches a socket. A goroutine that waits for a connection, for data or for room waits on a sync.Cond,
// and a deadline is a timer, so a server and its clients can run in a bubble of testing/synctest: the bubble counts
// them as idle, and its clock moves on. Listener and connections belong to the bubble that they were made in.
//
// Connections behave as those of TCP do where programs can tell. Each direction has a buffer of [BufferSize] bytes,
// so two ends that both write first do not wait for each other, and a writer whose peer does not read blocks once it
// is full. Close lets the peer read what was written and then gives it io.EOF; [Conn.CloseWrite] does so for one
// direction; [Conn.Reset] drops what is under way and gives the peer syscall.ECONNRESET, and [Conn.Break] gives it that
// after what is under way. Errors are *net.OpError values around the error that TCP would give, so errors.Is and
// net.Error's Timeout work. Connections that freeze, and dials that are refused, are made by who serves: see
// client/clienttest.
package memnet
