// Package autoscaling has the kinds of the group autoscaling: horizontal pod autoscalers, in the version v2. The
// package above, client/builtin, says what holds for all of these packages.
package autoscaling

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups autoscaling -functions
