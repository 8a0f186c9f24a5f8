// Package lifeline ends a server together with the process that started it, however that process ends: by returning, by
// a panic, by a signal that cannot be caught.
//
// The process that starts the server holds the writing end of a pipe, which is the server's standard input. The
// operating system closes that end when the process is gone. Then the server reads the end of its input, cleans up and
// exits. This works on every operating system, needs no process id, and cannot hit the wrong process. A parent death
// signal, the alternative on Linux, follows the thread that started the child rather than the process, and leaves no
// time to clean up.
//
// The pipe carries only the path of a directory. The directory belongs to the server's run, and the server removes it
// when it ends this way. If nothing was written into the pipe, nothing is removed.
package lifeline
