/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script of calltrap's page about a heap. The page's data is one JSON
 * object. Of each site it has cells (interval in which blocks were acquired,
 * interval in which they went, blocks, bytes); everything about a range of time
 * follows from these. No text of the program is ever made into markup.
 */
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const HELD = 64, ROW = 17, ROWS_SHOWN = 200, SMALLEST = 1.5;
const $ = id => document.getElementById(id);
/* Of two profiles; the second interval is what has changed. */
const FIRST = data.difference ? 1 : 0;
const METRIC = data.difference ? "growth" : "kept";
const state = { from: FIRST, to: data.intervals, zoom: null, sort: "value",
		down: true };

/* ---- text ---- */

function element(name, text, attributes = {})
{
	const made = document.createElement(name);

	made.textContent = text;
	for (const [key, value] of Object.entries(attributes))
		made.setAttribute(key, value);
	return made;
}

function number(value)
{
	return Math.round(value).toLocaleString("en");
}

function bytes(value)
{
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let unit = 0, size = Math.abs(value);

	for (; size >= 1024 && unit < units.length - 1; unit++)
		size /= 1024;
	return (value < 0 ? "-" : "") +
		(unit && size < 100 ? size.toFixed(1) : Math.round(size)) +
		" " + units[unit];
}

function duration(ns)
{
	for (const [unit, length] of [["h", 3.6e12], ["min", 6e10], ["s", 1e9],
				      ["ms", 1e6], ["µs", 1e3]])
		if (ns >= length)
			return (ns / length).toFixed(ns < 10 * length ? 1 : 0) +
				" " + unit;
	return Math.round(ns) + " ns";
}

function amount(value)
{
	if ($("metric").value === "latency")
		return duration(value);
	const sign = data.difference && value > 0 ? "+" : "";

	return sign + ($("unit").value === "bytes" ? bytes(value) :
		number(value) + " " + (data.counted ?? "block") +
		(Math.abs(value) === 1 ? "" : "s"));
}

function baseName(path)
{
	return path.slice(path.lastIndexOf("/") + 1);
}

function frameText(frame)
{
	const [name, library, file, line] = data.frames[frame];
	const place = file >= 0 ? baseName(data.files[file]) + ":" + line :
		library >= 0 ? baseName(data.libraries[library]) : "";

	return place ? name + "  " + place : name;
}

/* With the text of its line, if there is one (--source). */
function frameLine(frame)
{
	const text = data.frames[frame][4];

	return frameText(frame) + (text ? "    " + text : "");
}

/* Lines of a function are one box: the first frame stands for all of them. */
const firstFrames = new Map();
const boxOf = data.frames.map(([name, library], frame) => {
	const key = library + " " + name;

	if (!firstFrames.has(key))
		firstFrames.set(key, frame);
	return firstFrames.get(key);
});

/* What a search sees. */
function frameSought(frame)
{
	const [name, library, file] = data.frames[frame];

	return [name, library >= 0 ? data.libraries[library] : "",
		file >= 0 ? data.files[file] : ""].join("\n");
}

/* ---- what sites have, in a range of intervals ---- */

function heldAt(site, at, unit)
{
	let sum = 0;

	for (const cell of site.cells)
		if (cell[0] < at && cell[1] >= at)
			sum += cell[unit];
	return sum;
}

/* What is held after the last interval is exact even where cells aren't. */
function weigh(site)
{
	const metric = $("metric").value;
	const unit = $("unit").value === "bytes" ? 3 : 2;
	const { from, to } = state;
	let sum = 0;

	if (metric === "latency")
		return site.ns;
	if (metric === "peak" || metric === "temporary")
		return site[metric][unit - 2];
	if (metric === "growth")
		return heldAt(site, to, unit) - heldAt(site, from, unit);
	for (const cell of site.cells) {
		if (cell[0] < from || cell[0] >= to)
			continue;
		if (metric === "acquired" ||
		    (metric === "kept") === (cell[1] >= to))
			sum += cell[unit];
	}
	return sum;
}

/* ---- the flame graph: a tree of frames, merged where they are the same ---- */

function pathOf(site)
{
	let path = site.stack.map(frame => boxOf[frame]);

	if ($("collapse").checked)
		path = path.filter((frame, i) => frame !== path[i - 1]);
	return $("reverse").checked ? path.reverse() : path;
}

function newNode(parent, frame)
{
	return { parent, frame, weight: 0, size: 0, children: new Map(),
		 sites: 0, likely: false, depth: parent ? parent.depth + 1 : 0 };
}

/* Boxes are as wide as the sum of what is more and what is less. */
function plant()
{
	const root = newNode(null, -1);

	for (const site of data.sites) {
		if (!site.weight)
			continue;
		let node = root;

		for (const frame of [-1, ...pathOf(site)]) {
			if (frame >= 0) {
				if (!node.children.has(frame))
					node.children.set(frame,
							  newNode(node, frame));
				node = node.children.get(frame);
			}
			node.weight += site.weight;
			node.size += Math.abs(site.weight);
			node.sites++;
			node.likely ||= site.verdict === "LIKELY";
		}
	}
	return root;
}

/* The same place in a new tree, or as far as it goes. */
function findAgain(root, path)
{
	let node = root;

	for (const frame of path) {
		if (!node.children.has(frame))
			break;
		node = node.children.get(frame);
	}
	return node;
}

function pathTo(node)
{
	const path = [];

	for (; node?.parent; node = node.parent)
		path.unshift(node.frame);
	return path;
}

function pattern()
{
	try {
		return $("search").value ? new RegExp($("search").value, "i") :
			null;
	} catch {
		return null;
	}
}

/* Warm colours by name, always the same for a name. */
function colour(name)
{
	let hash = 7;

	for (let i = 0; i < name.length; i++)
		hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
	return `hsl(${20 + hash % 70} ${55 + hash % 30}% ${68 + hash % 12}%)`;
}

function nodeText(node)
{
	const share = 100 * node.size / (tree.size || 1);

	return (node.frame < 0 ? "all" : data.frames[node.frame][0]) + "  " +
		amount(node.weight) + ", " + share.toFixed(1) + " %" +
		(node.likely ? ", has a LIKELY leak" : "");
}

let tree = newNode(null, -1);
let rows = 1;

function drawBox(out, node, left, width, outer)
{
	const name = node.frame < 0 ? "all" : data.frames[node.frame][0];
	const box = element("button", (node.likely ? "! " : "") + name,
			    { type: "button", role: "treeitem" });
	const sought = pattern();
	const level = $("icicle").checked ? node.depth :
		rows - 1 - node.depth;

	box.style.cssText = `left:${left}px;width:${Math.max(width, 1)}px;` +
		`top:${level * ROW}px;background:${colour(name)}`;
	box.title = nodeText(node);
	if (outer)
		box.classList.add("outer");
	if (node.weight < 0)
		box.classList.add("less");
	if (sought && node.frame >= 0 && sought.test(frameSought(node.frame)))
		box.classList.add("found");
	box.addEventListener("click", () => { state.zoom = node; draw(); });
	box.addEventListener("mouseenter", () => detail(node));
	box.addEventListener("focus", () => detail(node));
	out.append(box);
}

function drawBelow(out, node, left, width)
{
	let at = left;

	for (const child of [...node.children.values()].sort(
		(a, b) => b.size - a.size || a.frame - b.frame)) {
		const share = width * child.size / (node.size || 1);

		if (share < SMALLEST)
			break;
		drawBox(out, child, at, share, false);
		drawBelow(out, child, at, share);
		at += share;
	}
}

function deepest(node)
{
	let depth = node.depth;

	for (const child of node.children.values())
		depth = Math.max(depth, deepest(child));
	return depth;
}

function drawFlames()
{
	const flames = $("flames"), width = flames.clientWidth || 1000;
	const out = document.createDocumentFragment();
	const zoom = state.zoom || tree;

	rows = deepest(tree) + 1;
	for (let node = zoom; node; node = node.parent)
		drawBox(out, node, 0, width, node !== zoom);
	drawBelow(out, zoom, 0, width);
	flames.style.height = rows * ROW + "px";
	flames.replaceChildren(out);
}

function detail(node)
{
	const [, library, file] = data.frames[node.frame] ?? [0, -1, -1];

	$("detail").textContent = nodeText(node) +
		(file >= 0 ? "  " + data.files[file] : "") +
		(library >= 0 ? "  in " + data.libraries[library] : "");
}

/* What a search has found: stacks count once, however often they match. */
function tellFound()
{
	const sought = pattern();
	let sum = 0, all = 0, count = 0;

	if (!$("search").value) {
		$("found").textContent = "";
		return;
	}
	if (!sought) {
		$("found").textContent = "no regular expression";
		return;
	}
	for (const site of data.sites) {
		all += Math.abs(site.weight);
		if (!site.stack.some(frame => sought.test(frameSought(frame))))
			continue;
		sum += Math.abs(site.weight);
		count += site.weight ? 1 : 0;
	}
	$("found").textContent = `${number(count)} stacks match: ` +
		`${amount(sum)}, ${(100 * sum / (all || 1)).toFixed(1)} %`;
}

/* ---- the time line ---- */

function svg(name, attributes)
{
	const made = document.createElementNS("http://www.w3.org/2000/svg",
					      name);

	for (const [key, value] of Object.entries(attributes))
		made.setAttribute(key, value);
	return made;
}

function timeAt(at)
{
	return Math.min(at * data.interval, data.watched);
}

/* Each cell once, however many intervals there are: what it adds where it
   begins, and takes away where it ends. */
const totals = new Array(data.intervals + 1).fill(0);
for (const site of data.sites)
	for (const [acquired, gone, , size] of site.cells)
		if (acquired < gone && acquired < data.intervals) {
			totals[acquired + 1] += size;
			if (gone < data.intervals)
				totals[gone + 1] -= size;
		}
for (let at = 1; at <= data.intervals; at++)
	totals[at] += totals[at - 1];

function drawChart()
{
	const chart = $("chart"), width = chart.clientWidth || 1000;
	const height = 120, most = Math.max(...totals, 1);
	const x = at => at / data.intervals * width;
	const points = totals.map((total, at) =>
		`${x(at)},${height - total / most * (height - 18)}`);
	const label = svg("text", { x: 4, y: 12 });

	label.textContent = "at most " + bytes(Math.max(...totals));
	chart.setAttribute("viewBox", `0 0 ${width} ${height}`);
	chart.replaceChildren(
		svg("rect", { class: "chosen", x: x(state.from), y: 0,
			      width: x(state.to) - x(state.from), height }),
		svg("polygon", { class: "held", points:
			`0,${height} ${points.join(" ")} ${width},${height}` }),
		label);
	$("range").textContent =
		`${duration(timeAt(state.from))} to ` +
		`${duration(timeAt(state.to))} of ${duration(data.watched)}: ` +
		`held ${bytes(totals[state.from])} at its beginning, ` +
		`${bytes(totals[state.to])} at its end`;
	$("from").value = state.from;
	$("to").value = state.to;
}

function choose(a, b)
{
	const last = data.intervals;
	const from = Math.max(0, Math.min(a, b));
	const to = Math.min(last, Math.max(a, b));

	state.from = Math.min(from, last - 1);
	state.to = Math.max(to, state.from + 1);
	later();
}

function listenToChart()
{
	const chart = $("chart");
	let began = null;
	const at = event => {
		const box = chart.getBoundingClientRect();

		return (event.clientX - box.left) / box.width *
			data.intervals;
	};

	chart.addEventListener("pointerdown", event => {
		began = at(event);
		chart.setPointerCapture(event.pointerId);
	});
	chart.addEventListener("pointermove", event => {
		if (began === null)
			return;
		choose(Math.floor(Math.min(began, at(event))),
		       Math.ceil(Math.max(began, at(event))));
	});
	chart.addEventListener("pointerup", () => { began = null; });
	$("from").max = $("to").max = data.intervals;
	$("from").addEventListener("input", () =>
		choose(+$("from").value, Math.max(state.to,
						  +$("from").value + 1)));
	$("to").addEventListener("input", () =>
		choose(Math.min(state.from, +$("to").value - 1),
		       +$("to").value));
	$("whole").addEventListener("click", () =>
		choose(0, data.intervals));
}

/* ---- tables ---- */

const COLUMNS = data.difference ?
	[["value", "Difference"], ["held", "Now"], ["acquired", "Before"],
	 ["blocks", { block: "Blocks now", call: "Calls now",
		      fault: "Faults now" }[data.counted]]] :
	[["value", "In the range"], ["held", "Held now"],
		 ["acquired", "Acquired"], ["blocks", "Blocks now"],
		 ["verdict", "Verdict"]];
const LEVELS = ["NOT", "POSSIBLE", "LIKELY"];

function add(sums, key, name, site)
{
	const row = sums.get(key) ||
		{ name, value: 0, held: 0, acquired: 0, blocks: 0, verdict: 0 };

	row.value += site.weight;
	row.held += site.held[1];
	row.acquired += site.all[1];
	row.blocks += site.held[0];
	row.verdict = Math.max(row.verdict, LEVELS.indexOf(site.verdict));
	sums.set(key, row);
}

function stackText(site)
{
	return [...site.stack].reverse().map(frameText).join(" < ");
}

function tableRows()
{
	const sums = new Map(), by = $("by").value, sought = pattern();

	data.sites.forEach((site, i) => {
		if (sought && !site.stack.some(
			frame => sought.test(frameSought(frame))))
			return;
		if (by === "stack")
			add(sums, i, () => stackText(site), site);
		else if (by === "library")
			add(sums, site.library, () => site.library < 0 ? "?" :
			    data.libraries[site.library], site);
		else
			for (const name of new Set(site.stack.map(
				frame => data.frames[frame][0])))
				add(sums, name, () => name, site);
	});
	return [...sums.values()].sort((a, b) =>
		(state.down ? 1 : -1) * (b[state.sort] - a[state.sort]));
}

function drawHead()
{
	const line = document.createElement("tr");

	line.append(element("th", "What", { class: "name", scope: "col" }));
	for (const [key, text] of COLUMNS) {
		const cell = element("th", "", { scope: "col" });
		const button = element("button", text +
				       (state.sort !== key ? "" :
					state.down ? " ▾" : " ▴"),
				       { type: "button" });

		if (state.sort === key)
			cell.setAttribute("aria-sort", state.down ?
					  "descending" : "ascending");
		button.addEventListener("click", () => {
			state.down = state.sort !== key || !state.down;
			state.sort = key;
			drawTable();
		});
		cell.append(button);
		line.append(cell);
	}
	$("table").tHead.replaceChildren(line);
}

function drawTable()
{
	const all = tableRows(), out = document.createDocumentFragment();

	drawHead();
	for (const row of all.slice(0, ROWS_SHOWN)) {
		const line = document.createElement("tr");
		const verdict = LEVELS[row.verdict];

		line.append(element("td", row.name(), { class: "name" }),
			    element("td", amount(row.value)),
			    element("td", bytes(row.held)),
			    element("td", bytes(row.acquired)),
			    element("td", number(row.blocks)));
		if (!data.difference)
			line.append(element("td", verdict,
					    { class: verdict }));
		out.append(line);
	}
	$("table").tBodies[0].replaceChildren(out);
	$("table").caption.textContent = all.length > ROWS_SHOWN ?
		`The first ${ROWS_SHOWN} of ${number(all.length)} rows` : "";
}

function drawMatrix()
{
	const from = [...new Set(data.cross.map(cross => cross[0]))];
	const to = [...new Set(data.cross.map(cross => cross[1]))];
	const name = library => library < 0 ? "?" :
		baseName(data.libraries[library]);
	const head = document.createElement("tr");

	$("crossing").hidden = !data.cross.length;
	head.append(element("th", "acquired in ↓, given back in →",
			    { class: "name", scope: "col" }));
	for (const library of to)
		head.append(element("th", name(library), { scope: "col" }));
	$("matrix").tHead.replaceChildren(head);
	for (const library of from) {
		const line = document.createElement("tr");

		line.append(element("th", name(library),
				    { class: "name", scope: "row" }));
		for (const other of to) {
			const found = data.cross.find(cross =>
				cross[0] === library && cross[1] === other);

			line.append(element("td", !found ? "" :
				`${number(found[2])}, ${bytes(found[3])}`));
		}
		$("matrix").tBodies[0].append(line);
	}
}

/* ---- the answer ---- */

function drawVerdict(site)
{
	const box = document.createElement("details");
	const summary = document.createElement("summary");
	const list = document.createElement("ol");

	summary.append(element("span", site.verdict, { class: site.verdict }),
		       ` ${bytes(site.held[1])} in ${number(site.held[0])} ` +
		       `blocks: ${frameText(site.stack.at(-2) ??
					    site.stack.at(-1))}; ${site.why}`);
	for (const frame of [...site.stack].reverse())
		list.append(element("li", frameLine(frame)));
	box.append(summary, list);
	$("verdicts").append(box);
}

function drawChange(site)
{
	const box = document.createElement("details");
	const list = document.createElement("ol");

	box.append(element("summary", `${amount(site.weight)}: ` +
			   frameText(site.stack.at(-2) ?? site.stack.at(-1)) +
			   `; ${bytes(site.all[1])} before, ` +
			   `${bytes(site.held[1])} now`), list);
	for (const frame of [...site.stack].reverse())
		list.append(element("li", frameText(frame)));
	$("verdicts").append(box);
}

function drawDifference()
{
	const sum = key => data.sites.reduce((all, site) => all + site[key][1],
					     0);
	const before = sum("all"), now = sum("held");

	document.title = $("title").textContent = data.title;
	$("facts").textContent = data.facts;
	$("leaks").textContent = "What has changed most";
	$("answer").textContent = `${bytes(before)} before, ${bytes(now)} ` +
		`now: ${amount(now - before)}.`;
	for (const site of data.sites)
		site.weight = site.held[1] - site.all[1];
	[...data.sites].filter(site => site.weight)
		.sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight))
		.slice(0, 30).forEach(drawChange);
	$("time").parentElement.hidden = true;
	$("metric").parentElement.hidden = true;
	$("metric").value = METRIC;
	$("by").querySelector("[value=library]").remove();
}

function drawAnswer()
{
	if (data.difference)
		return drawDifference();
	const of = level => data.sites.filter(site => site.verdict === level)
		.sort((a, b) => b.held[1] - a.held[1]);
	const likely = of("LIKELY"), possible = of("POSSIBLE");
	const sum = sites => bytes(sites.reduce((total, site) =>
						total + site.held[1], 0));
	const hold = sites => (sites.length === 1 ? "1 place holds " :
			       sites.length + " places hold ") + sum(sites);

	document.title = $("title").textContent = data.title;
	$("facts").textContent = data.facts;
	$("answer").textContent =
		(likely.length ? `Likely: ${hold(likely)}.` :
		 "Nothing that is likely to be a leak.") +
		(possible.length ? ` Possible: ${hold(possible)}.` : "");
	[...likely, ...possible].slice(0, 30).forEach(drawVerdict);
	if (likely[0])
		$("verdicts").firstElementChild.open = true;
}

/* ---- all of it ---- */

function draw()
{
	drawFlames();
	tellFound();
}

function update()
{
	const path = pathTo(state.zoom);

	for (const site of data.sites)
		site.weight = weigh(site);
	tree = plant();
	state.zoom = findAgain(tree, path);
	drawChart();
	draw();
	drawTable();
}

/* Once a frame of the screen, however fast the mouse moves. */
let waits = false;

function later()
{
	if (waits)
		return;
	waits = true;
	requestAnimationFrame(() => { waits = false; update(); });
}

function reset()
{
	state.zoom = null;
	$("search").value = "";
	$("metric").value = METRIC;
	$("unit").value = "bytes";
	for (const id of ["icicle", "reverse", "collapse"])
		$(id).checked = false;
	choose(FIRST, data.intervals);
}

for (const id of ["metric", "unit", "reverse", "collapse"])
	$(id).addEventListener("change", () => { state.zoom = null; later(); });
$("icicle").addEventListener("change", later);
$("by").addEventListener("change", drawTable);
$("search").addEventListener("input", later);
$("reset").addEventListener("click", reset);
addEventListener("resize", later);
addEventListener("keydown", event => {
	if (event.key === "Escape") {
		state.zoom = null;
		later();
	} else if (event.key === "/" && event.target.tagName !== "INPUT") {
		$("search").focus();
		event.preventDefault();
	}
});
listenToChart();
drawAnswer();
drawMatrix();
update();
