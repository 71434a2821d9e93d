/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script in calltrap's flame graphs. The file holds one <svg class="frame">
 * a function, parents before children, with its weight and depth (and weights
 * before and now, if it is one of differences); all that is shown follows from
 * these and from the state, which is the address's #... No text is ever made
 * into markup.
 */
const HEADER = 90, ROW = 17, FOOTER = 6, CHARACTER = 7.25, SMALLEST = 0.3;
const graph = document.currentScript.ownerSVGElement;
const detail = graph.querySelector(".detail");
const header = graph.querySelector(".header");
const frames = [...graph.querySelectorAll(".frame")].map(readFrame);
const root = frames[0];
const differs = "before" in root.element.dataset;
/* Whose weights a difference shows; by default the larger one's. */
const SIDES = { "": "Both", before: "Before", now: "Now" };
const rows = Math.max(...frames.map(frame => frame.depth)) + 1;
/* It is turned the first time, too, and then scrolls to the root. Not where nobody
   could scroll back: in a part of a page, and where a picture is made of it. */
let state = self == top && !matchMedia("(any-pointer: none)").matches ?
	    {} : { icicle: "" };
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
		mark: element.dataset.mark ? element.dataset.mark + " " : "",
		depth: +element.dataset.depth,
		weights: {
			"": +element.dataset.weight,
			before: +element.dataset.before,
			now: +element.dataset.now,
		},
		children: [],
	};
}

function linkFrames()
{
	const path = [];

	for (const frame of frames) {
		path.length = frame.depth;
		frame.parent = path[frame.depth - 1];
		frame.parent?.children.push(frame);
		path.push(frame);
		frame.element.frame = frame;
	}
}

/* Exact places; those in the file are rounded. */
function weigh()
{
	for (const frame of frames) {
		frame.weight = frame.weights[state.side];
		frame.start = frame.parent ? frame.parent.next : 0;
		frame.end = frame.start + frame.weight;
		frame.next = frame.start;
		if (frame.parent)
			frame.parent.next = frame.end;
	}
}

/* Of a difference: what is as before, then what is more, then what is gone. */
function weighBars(frame)
{
	const { "": all, before, now } = frame.weights;
	const widths = {
		grown: state.side == "before" ? 0 : all - before,
		shrunk: state.side == "now" ? 0 : all - now,
	};
	let start = frame.weight - widths.grown - widths.shrunk;

	for (const kind in widths) {
		const bar = frame.element.querySelector("." + kind);
		const percent = 100 / (frame.weight || 1);

		bar?.setAttribute("x", start * percent + "%");
		bar?.setAttribute("width", widths[kind] * percent + "%");
		start += widths[kind];
	}
}

/* ---- the picture ---- */

function label(frame, width)
{
	const room = Math.floor((width - 6) / CHARACTER) - frame.mark.length;

	if (room < 3)
		return "";
	return frame.mark + (frame.name.length <= room ? frame.name :
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

/* Smaller where the window is narrow, and cut in the middle in the end: its
   ends say what it is, and when. */
const FONT = 15, FONT_SMALLEST = 9, FONT_ASPECT = 0.603;
const heading = header.querySelector(".heading");
const subheading = header.querySelector(".subheading");
const fullHeading = heading.textContent;

function fontFor(text, width, size)
{
	const room = (width - 16) / (text.length * FONT_ASPECT);

	return Math.max(FONT_SMALLEST, Math.min(size, room));
}

function cutTo(text, room)
{
	const half = Math.floor((room - 3) / 2);

	return text.length <= room ? text :
	       text.slice(0, half) + "..." + text.slice(-half);
}

function fitHeading(width)
{
	const size = fontFor(fullHeading, width, FONT);
	const room = Math.round((width - 16) / (size * FONT_ASPECT));

	heading.style.fontSize = size + "px";
	heading.textContent = cutTo(fullHeading, room);
	subheading.style.fontSize =
		fontFor(subheading.textContent, width, 12) + "px";
}

function draw()
{
	const height = HEADER + rows * ROW + FOOTER;
	let width;

	graph.removeAttribute("viewBox");
	graph.setAttribute("width", "100%");
	graph.setAttribute("height", height);
	width = Math.max(graph.getBoundingClientRect().width, 200);
	fitHeading(width);
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
		side: differs && Object.hasOwn(SIDES, fields.get("side")) ?
			fields.get("side") : "",
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
	const sideChanged = next.side !== state.side;

	state = next;
	if (sideChanged)
		weigh();
	if (sideChanged && differs)
		frames.forEach(weighBars);
	zoom = frames.find(frame => frame.element.id == state.zoom &&
				    frame.weight) || root;
	if (tools.input.value != state.find)
		tools.input.value = state.find;
	tools.reset.disabled = zoom == root && !state.find;
	tools.icicle.setAttribute("aria-pressed", !!state.icicle);
	if (tools.side)
		tools.side.textContent = SIDES[state.side];
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

function turnSide()
{
	const sides = Object.keys(SIDES);
	const next = (sides.indexOf(state.side) + 1) % sides.length;

	change({ side: sides[next] });
}
