// Command originals explores operators of other projects: it copies them from the module proxy, adds a test from
// testdata to each copy, and runs the test. Run the command in the folder of module clientgo:
//
//	go run ./internal/originals                                       # all operators of the module's README
//	go run ./internal/originals -operator machineset                  # one operator
//	go run ./internal/originals -operator sample-port                 # our port, with the same histories
//	go run ./internal/originals -operator sample-controller -run TestScaling -- -resync 30s -explore.budget 20s
//	go run ./internal/originals -operator cronjob -tutorial DIR       # the CronJob of the Kubebuilder tutorial
//
// DIR is the folder docs/book/src/cronjob-tutorial/testdata/project of kubernetes-sigs/kubebuilder, which the module
// proxy does not have. Arguments after -- are flags of the test, such as -explore.schedule. -copy DIR keeps the copies
// in DIR, and uses copies that are already there.
//
// The command prints the stories and fails if something is found, as go test does. The first run of each operator
// compiles Kubernetes, which takes minutes.
package main
