// Package ledger judges the replicas of a program that share its work by package client/shards. A [Ledger] records
// which replica had each range and when, what the replicas worked on, and which of their writes arrived at the server.
// The package knows nothing of processes and servers: a test makes the record, and [Ledger.Faults] says what is wrong
// in it.
//
// All moments are of one clock, as durations since some beginning. A replica that is stopped or killed cannot say when
// it lost a range. So the test that stops or kills a replica records that itself.
package ledger
