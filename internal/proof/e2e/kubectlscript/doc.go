// Package kubectlscript runs commands of kubectl against two servers, a real one and clienttest, and compares the exit
// code, standard output and standard error.
//
// The commands are in the directory commands, in one file for each subject. Each file has its own namespace, with the
// file's name, which is kubectl's current namespace. In a file
//
//	# begins a comment
//	kubectl create configmap a --from-literal='k=some text'   # a command; this comment belongs to its name
//	EDITOR='sed -i s/a/b/' kubectl edit cm/a
//	kubectl apply -f -
//	| apiVersion: v1
//	| kind: ConfigMap
//	kubectl create deployment web --image=web:1 --dry-run=client -o yaml | kubectl create -f -
//	file pod.yaml
//	| apiVersion: v1
//
// lines that begin with | are the standard input of the command above them, or the content of the file above them,
// which is in the working directory of the commands that follow. A command may occur only once, because its text is
// its name. To run it again, add a comment at its end, which distinguishes the two. Words are quoted as in a shell;
// other features of a shell do not exist.
//
// Parts that must differ, such as uids and times, are replaced before the comparison; normalise.go says which. The
// file exceptions.txt has the outputs that may differ otherwise, each with the reason. An exception is right where
// clienttest's documentation says that it differs from a real server; elsewhere clienttest is wrong.
package kubectlscript
