// Command mutants finds mistakes that the tests would not notice. It makes one small mistake at a time in the code of
// the packages that carry Bowline's guarantees, runs their tests, and lists the mistakes that no test noticed.
//
//	go run ./internal/proof/mutants                          # the campaign
//	go run ./internal/proof/mutants -packages cache          # one package of it
//	go run ./internal/proof/mutants -n 1000 -seed 2          # other mutants, and more of them
//	go run ./internal/proof/mutants -for 90m -most 20        # as many as this time allows; a fifth of them may survive
//	go run ./internal/proof/mutants -run 'store.go add'      # the mutants whose identity has these words
//	go run ./internal/proof/mutants -again OUTPUT            # those that survived in the run that wrote the file OUTPUT
//	go run ./internal/proof/mutants -tests -test.run=Oracle  # some of the tests, which need not notice all of them
//	go run ./internal/proof/mutants -list                    # the mutants of the campaign, and nothing is run
//
// A mutant is killed if the tests of its package, or of the packages above it that [targets] names, fail, crash or
// hang. A mutant that survives needs a test that kills it. If it changes nothing that a caller can see, or only a cost
// that no test should time, argued.txt says so in one line. The command fails if a mutant survives without an
// argument, if the tests kill one that is argued for, and if an argument is for a mutant that the code no longer has.
//
// A hash of their identities decides which mutants are tried. An identity has no line number, so a change of one
// function leaves the mutants of the other functions as they are. No file of the repository is written: the go command
// compiles a package once, from an overlay that has all of its mutants in it, and a variable of the environment turns
// one on. Mutants that cannot be compiled that way, such as those of constants, are compiled one by one.
package main
