/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How people ask flamegraph.js for what they want to see; and its beginning. */

/* ---- buttons and the like ---- */

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
	const side = differs ? html("button", row, {
		title: "b: widths of both (the larger one), of what was " +
		       "before, of what is now",
	}, SIDES[""]) : null;
	const input = html("input", row, {
		placeholder: "Search (/)", "aria-label": "Search",
		title: "A regular expression: functions, files, libraries, " +
		       (differs ? "NEW, GROWN, SHRUNK, GONE" : "LIKELY"),
	});
	const matched = html("output", row, {});

	for (const [key, value] of Object.entries(
		     { x: 8, y: 42, width: "100%", height: 24 }))
		place.setAttribute(key, value);
	graph.querySelector(".hint").remove();
	header.append(place);
	return { reset, icicle, side, input, matched };
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
	} else if (key == "b" && differs) {
		turnSide();
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
	tools.side?.addEventListener("click", turnSide);
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
