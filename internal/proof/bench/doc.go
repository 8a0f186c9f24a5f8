// Package bench measures Bowline side by side with client-go and controller-runtime: the same job, on the same machine,
// in one run. A figure in the README or the CHANGELOG comes from here, with the command that measures it again.
//
//	go run ./cmd/compare       # informer, cache, queue, controller, leader election, row by row
//	go run ./cmd/shares        # a replica with a quarter of 100,000 pods, next to one with all of them
//	go run ./cmd/idle          # a thousand informers for which nothing happens
//	go run ./weight -heap      # binaries and builds of three programs, and the memory of a cache
//	go test ./...              # checks that the measurements work, on a few objects
//
// It is a separate module, so that users of Bowline do not depend on Kubernetes' modules. It needs Go and the Go module
// proxy, or a filled module cache.
//
// The rules: a side runs in its own process, which links nothing of the others. Rounds are interleaved, so that a
// machine that gets slower slows all sides down, and the tables have medians. In compare each side has the best of its
// public settings; in weight each is written as its own documentation advises, with its defaults.
//
// All sides read from the server of package canned. Package sample has the common code of compare's samples, and the
// folders sides, hello, weight and copies have the sides. Package builds measures builds, and package report prints
// tables.
package bench
