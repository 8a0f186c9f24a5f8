// The page works without this script. With it, the page stays current, events come as they happen, "/" goes to the search and "p"
// pauses. Nothing that the server sends becomes HTML here: fresh pages are parsed as documents, which run no script, and events are
// set as text.
"use strict";

const main = document.getElementById("main");
const button = document.getElementById("live");
const label = document.getElementById("livetext");
const every = 2000; // ms between two looks at a page
const params = new URLSearchParams(location.search);
let paused = false;

function state(name, text) {
	button.dataset.state = name;
	button.setAttribute("aria-pressed", String(!paused));
	if (label.textContent !== text) label.textContent = text;
}

// patch makes the tree of old what the one of fresh is, and keeps every element that stays: with it its focus, its selection and
// its scroll position.
function patch(old, fresh) {
	if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
		old.replaceWith(document.importNode(fresh, true));
		return;
	}
	if (old.nodeType !== Node.ELEMENT_NODE) {
		if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
		return;
	}
	for (const a of [...old.attributes]) if (!fresh.hasAttribute(a.name)) old.removeAttribute(a.name);
	for (const a of fresh.attributes) if (old.getAttribute(a.name) !== a.value) old.setAttribute(a.name, a.value);
	if (old.nodeName === "FORM") return; // somebody may be typing
	const had = [...old.childNodes];
	const has = [...fresh.childNodes];
	has.forEach((node, i) => i < had.length ? patch(had[i], node) : old.append(document.importNode(node, true)));
	had.slice(has.length).forEach((node) => node.remove());
}

async function poll() {
	if (!paused && !document.hidden) {
		try {
			const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store", credentials: "same-origin" });
			if (!answer.ok) throw new Error(answer.statusText);
			const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
			const selected = String(getSelection()) !== "";
			if (!paused && !selected) {
				patch(main, fresh.getElementById("main"));
				document.title = fresh.title;
			}
			if (!paused) state("on", "Live");
		} catch {
			if (!paused) state("lost", "No answer");
		}
	}
	setTimeout(poll, every);
}

// Events.

function cell(name, ...content) {
	const td = document.createElement("td");
	td.dataset.label = name;
	td.append(...content.filter((c) => c !== ""));
	return td;
}

function element(name, text, set = {}) {
	return Object.assign(document.createElement(name), { textContent: text }, set);
}

function took(ns) {
	if (ns < 1e6) return `${Math.floor(ns / 1e3)} µs`;
	if (ns < 1e9) return `${Math.floor(ns / 1e6)} ms`;
	return `${(ns / 1e9).toFixed(1)} s`;
}

function row(e) {
	const tr = document.createElement("tr");
	tr.className = e.bad ? "bad new" : "new";
	const duration = cell("Took", e.tookNs ? took(e.tookNs) : "");
	duration.className = "num";
	tr.append(
		cell("Time", element("time", new Date(e.at).toISOString().slice(11, 23), { dateTime: e.at })),
		cell("Kind", element("span", e.kind, { className: "kind" })),
		cell("Event", `${e.what} `, element("small", e.in || "")),
		cell("Object", e.key || ""), duration, cell("Detail", e.text || ""),
	);
	return tr;
}

function follow() {
	const rows = document.getElementById("events");
	const table = rows.closest("table");
	const most = Number(table.dataset.most);
	const query = new URLSearchParams([["stream", ""]]);
	for (const kind of params.getAll("kind")) query.append("kind", kind);
	if (params.has("q")) query.set("q", params.get("q"));
	let last = table.dataset.last;
	let missed = 0;
	let source = null;
	let waiting = []; // rows that are shown at the next frame
	let due = false;

	function show() {
		due = false;
		rows.prepend(...waiting.slice(-most).reverse());
		waiting = [];
		while (rows.childElementCount > most) rows.lastElementChild.remove();
		document.getElementById("noevents")?.remove();
	}
	function open() {
		query.set("after", last);
		source = new EventSource(`?${query}`);
		source.onopen = () => state("on", "Live");
		source.onerror = () => state("lost", "No answer");
		source.onmessage = (m) => {
			last = m.lastEventId;
			waiting.push(row(JSON.parse(m.data)));
			if (waiting.length > most) waiting.shift();
			if (!due) {
				due = true;
				setTimeout(show, 50);
			}
		};
		source.addEventListener("missed", (m) => {
			missed += Number(m.data);
			const note = document.getElementById("missed");
			note.textContent = missed > 0 ? `${missed} events came too fast and are left out.` : "Some events are no longer kept.";
			note.hidden = false;
		});
	}
	button.addEventListener("click", () => {
		if (paused) source.close();
		else open();
	});
	addEventListener("pagehide", () => source.close());
	addEventListener("pageshow", (e) => { if (e.persisted && !paused) open(); });
	open();
}

button.addEventListener("click", () => {
	paused = !paused;
	state(paused ? "off" : "on", paused ? "Paused" : "Live");
});

addEventListener("keydown", (e) => {
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	const typing = e.target.matches?.("input[type=search]");
	if (typing && e.key === "Escape") e.target.blur();
	if (typing) return;
	if (e.key === "/") {
		const search = document.querySelector("input[type=search]");
		if (search) {
			e.preventDefault();
			search.focus();
			search.select();
		}
	}
	if (e.key === "p" && !button.hidden) button.click();
});

for (const box of document.querySelectorAll(".chip input")) box.addEventListener("change", () => box.form.requestSubmit());

if (main.dataset.live === "poll") {
	button.hidden = false;
	state("on", "Live");
	setTimeout(poll, every);
} else if (main.dataset.live === "stream") {
	button.hidden = false;
	state("lost", "Connecting");
	follow();
}
