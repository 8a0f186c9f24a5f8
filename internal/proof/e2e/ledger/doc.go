// Package ledger judges what the replicas of a program have done that shares its work (package client/shards): which
// had each range and when, what they worked on, and which of their writes arrived at the server. It knows nothing of
// processes and servers: a test makes the record, and [Ledger.Faults] says what is wrong in it.
//
// All moments are of one clock, as durations since some beginning. A replica that does not run cannot say when it lost
// a range, so what befalls a replica is recorded by the one who does it to it.
package ledger
