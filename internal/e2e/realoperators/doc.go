// Command realoperators placeholder.
package main
