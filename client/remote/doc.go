// Package remote reaches into the containers of pods: it runs commands, connects to ports, reads logs and copies files.
//
// [Command] and [Attach] return a [Cmd], which is used like an exec.Cmd:
//
//	out, err := remote.Command(pods, key, "cat", "/etc/hostname").Output(ctx)
//
// pods is a handle on core v1 pods, of any T. The client needs the permissions get and create on pods/exec or
// pods/attach; servers before 1.35 ask for get alone. The connection is a WebSocket, which uses the client's
// credentials, proxies and hooks. Only servers since 1.30 can tell a command that its input has ended.
//
// # Containers for debugging
//
// [Debug] adds an ephemeral container to a pod, waits until it runs, and attaches to it. It needs the permission patch
// on pods/ephemeralcontainers, list and watch on pods, and get and create on pods/attach.
//
// # What a connection costs
//
// A running command uses one connection and two goroutines, and one more goroutine for each of Stdin, Sizes, Stdout and
// Stderr that is set. It uses about 60 KB of memory, and up to 1 MiB more for each output whose Write is slow. All of
// this is released when Run or Wait returns, with one exception: a goroutine that is blocked in the caller's Read or
// Write at the end of the context ends with that call.
//
// # Ports
//
// A [Target] is a port of a pod, or of one of the ready pods of a Service or of a label selector. Its Dial returns a
// net.Conn, and its DialContext fits an http.Transport, a database driver or gRPC. [Forward] lets other programs
// connect through a listener of the caller:
//
//	transport := &http.Transport{DialContext: remote.ToService(pods, services, key, "http").DialContext}
//	err := remote.Forward(ctx, listener, remote.ToPod(pods, key, "5432"), remote.ForwardOptions{})
//
// The client needs the permissions get and create on pods/portforward; servers before 1.35 ask for get alone.
// [ToService] also needs get on services and list on pods, [ToSelector] list on pods, and [ToPod] get on pods if the
// port is a name.
//
// Each connection to a pod is a separate WebSocket, with three goroutines and buffers that grow with the traffic, to
// 256 KiB in each direction. Its goroutines end with the connection, even if Close is never called. The protocol cannot
// close one direction alone.
//
// # Logs
//
// [Logs] returns the log of one container as an io.ReadCloser, and [Lines] returns it line by line. [Tail] merges and
// follows the logs of many containers:
//
//	for line, err := range remote.Tail(ctx, pods, remote.TailOptions{LabelSelector: "app=web"}) {
//		if errors.As(err, new(*remote.LogError)) {
//			continue // one container; the others go on
//		}
//		if err != nil {
//			return err
//		}
//		fmt.Println(line.Pod.Name, line.Container, line.Text)
//	}
//
// The client needs the permission get on pods/log, and Tail also list and watch on pods. Only Tail resumes a log after
// its connection was cut.
//
// # Copies
//
// [CopyFrom] and [CopyTo] copy files and folders from and to containers, and [ReadFile] and [WriteFile] copy streams:
//
//	// one file, to ./report.txt
//	_, err := remote.CopyFrom(ctx, pods, key, "/app/report.txt", ".", remote.CopyOptions{OneFile: true})
//	// a folder, to ./log
//	_, err = remote.CopyFrom(ctx, pods, key, "/var/log", ".", remote.CopyOptions{})
//	// the entries of a folder, to the folder logs
//	_, err = remote.CopyFrom(ctx, pods, key, "/var/log/", "logs", remote.CopyOptions{})
//	// a folder, without the entries that must not be copied
//	_, err = remote.CopyFrom(ctx, pods, key, "/etc", ".", remote.CopyOptions{LeaveOut: true})
//	// the entries of a local folder, to the folder /etc/app of the container
//	_, err = remote.CopyTo(ctx, pods, key, os.DirFS("conf"), "/etc/app", remote.CopyOptions{Overwrite: true})
//
// They run tar in the container or, without tar, sh and a few more programs. They trust nothing that a container sends:
// CopyFrom writes nothing outside the destination folder, and no more than [CopyOptions] allows. If the requested name
// does not end in a slash, CopyFrom makes only that name. [CopyFrom] lists what a hostile container can do within these
// bounds. A copy from a container that sends nothing lasts until the context ends.
package remote
