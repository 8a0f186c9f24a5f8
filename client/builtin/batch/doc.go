// Package batch has the kinds of the group batch: jobs and cron jobs. Package client/builtin describes what all of
// these packages have in common.
package batch

//go:generate go run github.com/bowline-go/bowline/client/typegen -o types.go -groups batch -import io.k8s.api.core.v1=github.com/bowline-go/bowline/client/builtin/core -functions
