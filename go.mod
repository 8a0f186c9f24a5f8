module github.com/bowline-go/bowline

go 1.26

require (
	github.com/cenkalti/backoff/v4 v4.3.0
	github.com/go-logr/logr v1.4.4
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/time v0.14.0
)

require (
	github.com/gorilla/websocket v1.5.3
	github.com/klauspost/compress v1.20.4
)
