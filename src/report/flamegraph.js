/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script in calltrap's flame graphs. The file holds one <svg class="frame">
 * a function, parents before children, with its weight and depth; all that is
 * shown follows from these and from the state, which is the address's #...
 * No text is ever made into markup.
 */
"use strict";
(() => {
const HEADER = 90, ROW = 17, FOOTER = 6, CHARACTER = 7.25, SMALLEST = 0.3;
const graph = document.currentScript.ownerSVGElement;
const detail = graph.querySelector(".detail");
const header = graph.querySelector(".header");
const frames = [...graph.querySelectorAll(".frame")].map(readFrame);
const root = frames[0];
const rows = Math.max(...frames.map(frame => frame.depth)) + 1;
let state = {};
let zoom = root;

function readFrame(element)
{
	const title = element.querySelector("title").textContent;
	const [first, ...more] = title.split("\n");

	return {
		element, title, text: element.querySelector("text"),
		name: first.slice(0, first.lastIndexOf(" (")),
		/* What a search sees: no numbers of bytes. */
		sought: [first.slice(0, first.lastIndexOf(" (")),
			 ...more].join("\n"),
		likely: element.classList.contains("likely"),
		depth: +element.dataset.depth,
		weight: +element.dataset.weight,
		children: [],
	};
}

/* Exact places; those in the file are rounded. */
function linkFrames()
{
	const path = [];

	for (const frame of frames) {
		path.length = frame.depth;
		frame.parent = path[frame.depth - 1];
		frame.start = frame.parent ? frame.parent.next : 0;
		frame.end = frame.start + frame.weight;
		frame.next = frame.start;
		if (frame.parent) {
			frame.parent.next = frame.end;
			frame.parent.children.push(frame);
		}
		path.push(frame);
		frame.element.frame = frame;
	}
}

/* ---- the picture ---- */

function label(frame, width)
{
	const mark = frame.likely ? "! " : "";
	const room = Math.floor((width - 6) / CHARACTER) - mark.length;

	if (room < 3)
		return "";
	return mark + (frame.name.length <= room ? frame.name :
		       frame.name.slice(0, room - 2) + "..");
}

function place(frame, width)
{
	const scale = width / (zoom.end - zoom.start || 1);
	const left = Math.max(0, (frame.start - zoom.start) * scale);
	const right = Math.min(width, (frame.end - zoom.start) * scale);
	const row = state.icicle ? frame.depth : rows - 1 - frame.depth;
	const element = frame.element;

	frame.shown = right - left >= SMALLEST || frame == zoom;
	element.style.display = frame.shown ? "" : "none";
	if (!frame.shown)
		return;
	element.setAttribute("x", left);
	element.setAttribute("width", Math.max(right - left, SMALLEST));
	element.setAttribute("y", HEADER + row * ROW);
	element.classList.toggle("outer", frame.depth < zoom.depth);
	frame.text.textContent = label(frame, right - left);
}

function draw()
{
	const height = HEADER + rows * ROW + FOOTER;
	let width;

	graph.removeAttribute("viewBox");
	graph.setAttribute("width", "100%");
	graph.setAttribute("height", height);
	width = Math.max(graph.getBoundingClientRect().width, 200);
	for (const frame of frames)
		place(frame, width);
}

function keepHeaderInView()
{
	const y = Math.min(Math.max(0, -graph.getBoundingClientRect().top),
			   rows * ROW);

	header.setAttribute("transform", `translate(0,${y})`);
}

function tell(frame)
{
	detail.textContent = frame ? frame.title.split("\n").join("   ") : "";
}

/* ---- searching ---- */

/*
 * Upper case counts once there is some in what is sought; ^ and $ are the ends
 * of each name.
 */
function compile(sought)
{
	const flags = /[A-Z]/.test(sought.replace(/\\./g, "")) ? "m" : "mi";

	try {
		return new RegExp(sought, flags);
	} catch {
		return null;
	}
}

/* What matches weighs of what is shown; inside of another match only once. */
function matchedShare()
{
	let sum = 0, end = zoom.start;

	for (const frame of frames) {
		const from = Math.max(frame.start, end);
		const to = Math.min(frame.end, zoom.end);

		if (frame.matches && to > from) {
			sum += to - from;
			end = to;
		}
	}
	return 100 * sum / (zoom.weight || 1);
}

function search()
{
	const regexp = state.find ? compile(state.find) : null;

	for (const frame of frames) {
		frame.matches = regexp !== null && regexp.test(frame.sought);
		frame.element.classList.toggle("match", frame.matches);
	}
	if (!state.find)
		tools.matched.textContent = "";
	else if (!regexp)
		tools.matched.textContent = "not a regular expression";
	else
		tools.matched.textContent =
			`matched: ${matchedShare().toFixed(1)}%`;
}

/* ---- the state, which is that of the address ---- */

function readAddress()
{
	const fields = new URLSearchParams(location.hash.slice(1));

	return {
		zoom: fields.get("zoom") || "",
		find: fields.get("find") || "",
		icicle: fields.get("icicle") || "",
	};
}

function address()
{
	const fields = new URLSearchParams();

	for (const key in state)
		if (state[key])
			fields.set(key, state[key]);
	return "#" + fields;
}

function show(next)
{
	const turned = next.icicle != state.icicle;

	state = next;
	zoom = frames.find(frame => frame.element.id == state.zoom) || root;
	if (tools.input.value != state.find)
		tools.input.value = state.find;
	tools.reset.disabled = zoom == root && !state.find;
	tools.icicle.setAttribute("aria-pressed", !!state.icicle);
	draw();
	search();
	tell(zoom);
	if (turned)
		scrollTo(0, state.icicle ? 0 : document.documentElement
						       .scrollHeight);
	keepHeaderInView();
}

/* replace: no step of its own for the browser's "back". */
function change(changes, replace)
{
	show({ ...state, ...changes });
	if (replace)
		location.replace(address());
	else
		location.hash = address();
}

function zoomTo(frame)
{
	change({ zoom: frame == root ? "" : frame.element.id });
}

function reset()
{
	change({ zoom: "", find: "" });
}

function turn()
{
	change({ icicle: state.icicle ? "" : "1" });
}

/* ---- tools ---- */

function html(tag, parent, attributes, text)
{
	const element = document.createElementNS(
		"http://www.w3.org/1999/xhtml", tag);

	for (const key in attributes)
		element.setAttribute(key, attributes[key]);
	if (text)
		element.textContent = text;
	parent.append(element);
	return element;
}

function makeTools()
{
	const place = document.createElementNS(graph.namespaceURI,
					       "foreignObject");
	const row = html("div", place, { class: "tools" });
	const reset = html("button", row, { title: "Escape" }, "Reset");
	const icicle = html("button", row, { title: "i" }, "Icicle");
	const input = html("input", row, {
		placeholder: "Search (/)", "aria-label": "Search",
		title: "A regular expression: functions, files, libraries, " +
		       "LIKELY",
	});
	const matched = html("output", row, {});

	for (const [key, value] of Object.entries(
		     { x: 8, y: 42, width: "100%", height: 24 }))
		place.setAttribute(key, value);
	graph.querySelector(".hint").remove();
	header.append(place);
	return { reset, icicle, input, matched };
}

/* ---- the keyboard ---- */

function largest(some)
{
	return some.find(frame => frame.shown);
}

/* The next one to the side, in the same row. */
function beside(frame, step)
{
	const row = frames.filter(other => other.shown &&
					   other.depth == frame.depth);

	return row[row.indexOf(frame) + step];
}

function step(key, frame)
{
	const inward = state.icicle ? "ArrowDown" : "ArrowUp";

	switch (key) {
	case "ArrowLeft":
		return beside(frame, -1);
	case "ArrowRight":
		return beside(frame, 1);
	case inward:
		return largest(frame.children);
	default:
		return frame.parent;
	}
}

function focused()
{
	return document.activeElement?.frame;
}

function onKey(event)
{
	const typing = document.activeElement == tools.input;
	const key = event.key;

	if ((event.ctrlKey || event.metaKey) && key == "f" ||
	    key == "/" && !typing) {
		tools.input.focus();
		tools.input.select();
	} else if (key == "Escape") {
		if (typing)
			tools.input.blur();
		reset();
	} else if (typing || event.ctrlKey || event.metaKey || event.altKey) {
		return;
	} else if (key.startsWith("Arrow")) {
		const from = focused();
		const to = from ? step(key, from) : zoom;

		to?.element.focus();
	} else if ((key == "Enter" || key == " ") && focused()) {
		zoomTo(focused());
	} else if (key == "i") {
		turn();
	} else {
		return;
	}
	event.preventDefault();
}

function frameAt(event)
{
	return event.target.closest?.(".frame")?.frame;
}

function listen()
{
	graph.addEventListener("click", event => {
		const frame = frameAt(event);

		if (frame)
			zoomTo(frame);
	});
	graph.addEventListener("mouseover", event =>
		tell(frameAt(event) || focused() || zoom));
	graph.addEventListener("focusin", event =>
		tell(frameAt(event) || zoom));
	document.addEventListener("keydown", onKey);
	tools.reset.addEventListener("click", reset);
	tools.icicle.addEventListener("click", turn);
	tools.input.addEventListener("input", () =>
		change({ find: tools.input.value }, true));
	addEventListener("hashchange", () => show(readAddress()));
	addEventListener("resize", draw);
	addEventListener("scroll", keepHeaderInView);
}

const tools = makeTools();
linkFrames();
for (const frame of frames) {
	frame.element.setAttribute("tabindex", frame == root ? 0 : -1);
	frame.element.setAttribute("role", "button");
}
listen();
show(readAddress());
})();
