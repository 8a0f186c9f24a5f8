// Command kubectl is kubectl as its module releases it. It is not held by a lifeline, because `kubectl apply -f -`
// needs the standard input. Package controlplane ends it by other means.
package main
