// Package strategies tests that clienttest has the defaults and the rules of a kube-apiserver for built-in kinds. It
// has objects of each kind, in testdata, with all members that they may have. It makes one change at a time to an
// object, such as a missing member or a negative number, sends the result to both servers, and compares the answers.
//
//	go test ./strategies                             # some of the changes, others with another -first
//	go test ./strategies -run 'TestWrites/Pod' -all  # all changes of one kind
//	go test ./strategies -all -update                # writes the list of missing rules; with -run, for some kinds
package strategies
