// Package clientgo lets package explore disturb operators that are built on client-go or controller-runtime. It turns
// the configuration that the explorer gives to a program into one of client-go, over the same network in memory:
//
//	Program: clientgo.Program(run), // func(ctx context.Context, cfg *rest.Config) error
//
// # Rules for a program
//
// The program runs in a bubble of testing/synctest, in which time is virtual and moves only when every goroutine waits
// for another one of the bubble. The libraries allow this, in the versions of go.mod. The program itself must follow
// these rules:
//
//   - It ends when its context ends. It handles no signals: [signals.SetupSignalHandler] may be called only once in a
//     process.
//   - It does not listen on the machine's network. [ManagerOptions] switches off metrics, probes and profiles, and
//     refuses a webhook server. A program that calls GetWebhookServer still makes one.
//   - It returns when none of its goroutines runs any more. A manager does so. A program on informers calls Shutdown of
//     each factory, and waits for its workers.
//   - It keeps no channel and no timer in a package variable: a bubble may not use a channel or timer of another
//     bubble.
//   - It changes no package variable when it starts, as AddToScheme of client-go's scheme does. The explorer runs the
//     program on all processors at once; -cpu=1 limits it to one run at a time.
//   - It holds no mutex during a request for objects if another goroutine may wait for that mutex: synctest does not
//     count such a goroutine as waiting, so time stands still and the explorer waits for ever. Discovery requests are
//     an exception, because RESTMappers hold a mutex during them: the explorer answers discovery requests at once and
//     never disturbs them.
//
// A panic in a goroutine that the program has started ends the test binary, as it would end the program.
//
// controller-runtime turns a panic in Reconcile into an error and retries, so such a panic shows only by its effects.
//
// controller-runtime refuses a second controller of the same name in one process, and each restart makes one.
// ManagerOptions switches this check off. All replicas and all runs share the metrics of controller-runtime, the logger
// and the schemes.
//
// # Equal runs
//
// The explorer needs two runs without a disturbance to end alike. The delays of reflectors and elections have a random
// part, and handlers receive objects in the order of a map. The end of a run seldom depends on either. But the story of
// a schedule may differ from one play to the next, and so may the number of a request among the requests of its class.
//
// README.md lists the operators of other projects that were explored, and the bugs that were found in them.
package clientgo
