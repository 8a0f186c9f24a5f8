// Command kubectl is kubectl as its module releases it. Standard input is its own, as `kubectl apply -f -` needs it;
// package controlplane ends it by other means.
package main
