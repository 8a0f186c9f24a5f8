// Package bench measures Bowline side by side with client-go and controller-runtime: the same job, on the same machine, in
// one run. A figure in the README or the CHANGELOG comes from here, with the command that gives it again.
//
//	go run ./weight -heap      # binaries, builds and memory
//	go test ./...              # that the measurements work, on a few objects
//
// It is a module of its own, so that nothing of Kubernetes reaches those who use Bowline. It needs Go and the Go module
// proxy, or a filled module cache.
//
// The rules: each side is written as its own documentation advises, with its defaults. A side runs in a process of its
// own, which links nothing of the others. Rounds are interleaved, so that a machine that gets slower slows all sides
// down, and the table has medians. Ratios are to Bowline.
package bench
