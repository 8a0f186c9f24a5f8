// Package kubectl has what only kubectl asks of a server: objects as the rows of Tables, which it prints, with code for
// each kind as in a real server, and OpenAPI documents of version 2, which it reads before it creates a List. Tests in
// internal/proof/e2e compare each row, and kubectl's commands, with the real server's. No other client needs this
// package.
package kubectl
