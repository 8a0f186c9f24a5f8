// Package wsmux carries the channels of the Kubernetes API's streaming protocols over one WebSocket: each binary
// message begins with the number of its channel. It is the only package that imports gorilla/websocket, which
// implements the frames (RFC 6455).
package wsmux
