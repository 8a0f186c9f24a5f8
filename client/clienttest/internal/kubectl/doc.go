// Package kubectl makes the answers that only kubectl needs. These are Tables, whose cells it fills with code for each
// kind, as a real server does, and OpenAPI documents of version 2, which kubectl reads before it creates a List. Tests
// in internal/proof/e2e compare each row, and kubectl's commands, with the real server's. No other client needs this
// package.
package kubectl
