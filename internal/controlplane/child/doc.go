// Package child runs child processes, which end together with this process as far as the operating system allows.
package child
