// Package remote runs commands in the containers of pods.
//
// [Command] and [Attach] return a [Cmd], which is used like an exec.Cmd:
//
//	out, err := remote.Command(pods, key, "cat", "/etc/hostname").Output(ctx)
//
// pods is a handle on core v1 pods, of any T. The client needs the permissions get and create on pods/exec or pods/attach; servers
// before 1.35 ask for get alone. The connection is a WebSocket, which a kube-apiserver speaks since 1.30 for both, and goes through the client
// with its credentials, proxies and hooks.
//
// # What a connection costs
//
// A running command has one connection and four goroutines, and one more for each of Stdin and Sizes. Nothing of it is left when Run,
// or Wait, has returned, with one exception: a goroutine that is in a call of the caller's Read or Write at the end of the context
// ends with that call.
//
// # Copies
//
// [CopyFrom] and [CopyTo] copy files and folders from and to containers, and [ReadFile] and [WriteFile] copy streams:
//
//	_, err := remote.CopyFrom(ctx, pods, key, "/var/log", "logs", remote.CopyOptions{})
//	_, err = remote.CopyTo(ctx, pods, key, os.DirFS("conf"), "/etc/app", remote.CopyOptions{Overwrite: true})
//
// They run tar in the container, or sh and a few more where there is no tar. They trust nothing that a container sends: whatever it
// is, CopyFrom writes nothing outside of the folder, and no more than the limits of [CopyOptions]. They do not end by themselves if a
// container sends nothing; the context does.
package remote
