// Package texts lists the error and log texts of the packages that users link, and holds them to rules. A test fails for
// a text that breaks a rule, and names its place.
//
//	go test ./internal/proof/texts -v -run Printed -print           # every text, with its place
//	go test ./internal/proof/texts -v -run Printed -print=client/   # those of one folder
//
// The list comes from the syntax alone. It has the constant texts in
//
//   - calls of errors.New and fmt.Errorf
//   - calls of functions of the module that take a format and its arguments, take a message, or return an error
//   - panics, logger calls, repeated log lines (report.Topic), and answers of http.Error
//   - Error methods, and fields of values whose type ends in Error
//   - return statements, as strings: reasons, and names of states
//
// It lacks texts that travel through variables, the texts of generated files, and those of tests and examples.
package texts
