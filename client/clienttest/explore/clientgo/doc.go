// Package clientgo lets package explore disturb operators that are built on client-go or controller-runtime. It turns
// the configuration that the explorer gives to a program into one of client-go, over the same network in memory:
//
//	Program: clientgo.Program(run), // func(ctx context.Context, cfg *rest.Config) error
//
// # What a program must keep to
//
// The program runs in a bubble of testing/synctest, in which time is virtual and moves only when every goroutine
// waits for another one of the bubble. The libraries keep to this, with the versions in go.mod. The program itself has
// to do the following:
//
//   - It ends with the context that it gets. It handles no signals: [signals.SetupSignalHandler] may be called only
//     once in a process.
//   - It does not listen on the machine's network. [ManagerOptions] switches off metrics, probes and profiles, and
//     refuses a webhook server. A program that calls GetWebhookServer still makes one.
//   - It returns when nothing of it runs any more. A manager does. A program on informers calls Shutdown of each
//     factory, and waits for its workers.
//   - It keeps no channel and no timer in a package variable: a bubble may not use those of another.
//   - It changes no package variable when it starts, as AddToScheme of client-go's scheme does. The explorer runs the
//     program on all processors at once; -cpu=1 is one run at a time.
//   - It holds no mutex during a request for objects if another goroutine may wait for that mutex: synctest does not
//     take such a goroutine for one that waits, so time stands still and the explorer waits with it. Requests for
//     discovery are an exception, because RESTMappers do that: the explorer answers them at once and never disturbs
//     them.
//
// A panic in a goroutine that the program has started ends the test binary, as it would end the program.
//
// A panic in Reconcile is an error that controller-runtime tries again, so it shows only by its effects.
//
// controller-runtime refuses a second controller of the same name in one process, and each restart makes one.
// ManagerOptions switches this check off. Its metrics, the logger and the schemes are shared by all replicas and all
// runs.
//
// # Two runs alike
//
// The explorer needs two runs without a disturbance to end alike. The delays of reflectors and elections have a random
// part, and handlers get objects in the order of a map. The end of a run seldom depends on either, but the story of a
// schedule may differ from one time to the next, and so may the number of a request among those of its class.
//
// README.md has the operators of others that were explored, and what was found in them.
package clientgo
