// Package autoscaling has the kinds of the group autoscaling: horizontal pod autoscalers, in the version v2. Package
// client/builtin describes what all of these packages have in common.
package autoscaling

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups autoscaling -functions
