// Package child runs child processes that do not outlive this one more than the operating system requires.
package child
