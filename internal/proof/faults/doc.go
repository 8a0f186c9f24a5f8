// Package faults has what befalls processes that keep leases, in random histories: machines that stop, sleep and have
// wrong clocks, and a server that goes away, breaks requests and ends watches. Only tests import it.
package faults
