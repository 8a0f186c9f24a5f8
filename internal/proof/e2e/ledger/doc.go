// Package ledger judges what the replicas of a program did that share its work by package client/shards: which replica
// had each range and when, what they worked on, and which of their writes arrived at the server. It knows nothing of
// processes and servers: a test makes the record, and [Ledger.Faults] says what is wrong in it.
//
// All moments are of one clock, as durations since some beginning. A replica that does not run cannot say when it lost
// a range. So a test that stops or kills a replica records that itself.
package ledger
