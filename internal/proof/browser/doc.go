// Package browser tests the page of informer/debug in a real browser: layout, live updates, filters, keyboard, dark
// mode, and a page without JavaScript. .ci/run leaves its tests to .ci/nightly, because they need Chromium:
//
//	apt-get install -y chromium
//	go test -count=1 .
//	go test -count=1 -run Screenshots . -screenshots ../../../informer/debug/testdata   # makes new screenshots
//
// The tests look for a program with the name chromium, chromium-browser or google-chrome; -chromium names another one.
package browser
