// Package kubectl makes the answers that only kubectl needs: Tables, whose rows it prints, with code for each kind as
// in a real server, and OpenAPI documents of version 2, which it reads before it creates a List. Tests in
// internal/proof/e2e compare each row, and kubectl's commands, with the real server's. No other client needs this
// package.
package kubectl
