// Package tracing makes OpenTelemetry spans of a program that uses Bowline. It is a separate module, so that a program
// without it links nothing of OpenTelemetry.
//
//	ctx = tracing.Context(ctx, otel.GetTracerProvider())
//
// traces everything that runs with the returned context. These are the spans:
//
//	get pods, update pods, ...    a call of a client, with all its attempts (an event for each); a child of the span of
//	                              its context
//	initial list pods, relist pods    a list of an informer
//	event pods                    an event of a watch, when it arrives
//	reconcile NAME                a reconcile, linked to the latest events that named its key; its requests are its
//	                              children
//
// So an event leads to the reconcile that followed it, and the reconcile to its writes, even if the key is that of
// another object, such as the owner.
package tracing
