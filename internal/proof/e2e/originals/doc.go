// Command originals compares two controllers with the controllers that they reproduce: lines, modules, binary, memory.
// Run it in the folder of this module:
//
//	go run ./originals                  # kubernetes/sample-controller, from the module proxy
//	go run ./originals -tutorial DIR    # and the CronJob of the Kubebuilder tutorial
//
// DIR is the folder docs/book/src/cronjob-tutorial/testdata/project of kubernetes-sigs/kubebuilder, which the module
// proxy does not have. It runs with ENABLE_WEBHOOKS=false.
//
// # What is measured
//
// Only lines of code count: blank lines, comments and tests do not. The lines of files that say "Code generated" are
// counted apart. The lines of our controllers include the definition of the custom resource, which the originals
// generate as YAML. A binary is stripped (-trimpath -ldflags '-s -w'). Modules are those that are linked, except the
// module of the program.
//
// For the memory, each program runs against clienttest. The server has 20 custom resources to work on, and 10,000
// deployments or jobs of others (-others), which a controller has to cache as well. When all 20 have their deployment
// or their job, and 5 s more have passed, the memory is read from /proc/PID/status (VmRSS and VmHWM), so on Linux
// only.
package main
