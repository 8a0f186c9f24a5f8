// Package migrating has tasks as programs of client-go and controller-runtime do them, and each of them with Bowline.
// MIGRATING.md shows the code. A test runs both sides and compares what they leave behind.
//
// The suffixes say the side: ClientGo, Runtime for controller-runtime, and none for Bowline. The folders of copies have
// a whole operator.
package migrating
