//go:build unix

package regular

import "syscall"

// unblocked makes the opening of a pipe not wait for its other end, and no terminal that of this process.
const unblocked = syscall.O_NONBLOCK | syscall.O_NOCTTY
