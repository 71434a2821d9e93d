/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script of calltrap's page about a heap. The page's data is one JSON
 * object (report/page/page_data.h): columns of numbers, and a few texts. Of each
 * site there are cells (interval in which blocks were acquired, interval in
 * which they went, blocks, bytes); everything about a range of time follows from
 * these. No text of the program is ever made into markup.
 *
 * There may be ten thousand sites, and a range is dragged over with the mouse:
 * all of them are walked through in arrays of numbers only, and nothing is made
 * of what isn't to be seen.
 *
 * (This becomes a C string, where two question marks and = are a trigraph.)
 */
"use strict";
const columns = JSON.parse(document.getElementById("data").textContent);
const data = columns.about;
const ROW = 17, ROWS_AT_ONCE = 50, SMALLEST = 1.5;
const LEVELS = ["NOT", "POSSIBLE", "LIKELY"], LIKELY = 2;
const $ = id => document.getElementById(id);
/* Of two profiles; the second interval is what has changed. */
const FIRST = data.difference ? 1 : 0;
const METRIC = data.difference ? "growth" : "kept";
const state = { from: FIRST, to: data.intervals, zoom: 0, sort: "value",
		down: true, rows: ROWS_AT_ONCE };

/* ---- the columns ---- */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" +
	"0123456789+/";
const digitOf = new Uint8Array(128);
for (let i = 0; i < DIGITS.length; i++)
	digitOf[DIGITS.charCodeAt(i)] = i;

/* The numbers of a column. */
function numbersOf(text)
{
	const numbers = new Float64Array(text.length);
	let count = 0, last = 0, number = 0, unit = 1;

	for (let i = 0; i < text.length; i++) {
		const digit = digitOf[text.charCodeAt(i) & 127];

		number += (digit & 31) * unit;
		unit *= 32;
		if (digit & 32)
			continue;
		last += number % 2 ? -(number + 1) / 2 : number / 2;
		numbers[count++] = last;
		number = 0;
		unit = 1;
	}
	return numbers.slice(0, count);
}

for (const [name, text] of Object.entries(columns))
	if (name !== "about")
		columns[name] = numbersOf(text);

/* Of two profiles there are no numbers of some columns. */
const SITES = columns.node.length;
const ofSites = name => columns[name].length ? columns[name] :
	new Float64Array(SITES);
const site = {
	node: new Int32Array(columns.node),
	library: new Int32Array(columns.library),
	verdict: new Uint8Array(columns.verdict),
	held: { blocks: ofSites("heldBlocks"), bytes: ofSites("heldBytes") },
	all: { blocks: ofSites("allBlocks"), bytes: ofSites("allBytes") },
	peak: { blocks: ofSites("peakBlocks"), bytes: ofSites("peakBytes") },
	temporary: { blocks: ofSites("temporaryBlocks"),
		     bytes: ofSites("temporaryBytes") },
	ns: ofSites("ns"),
	weight: new Float64Array(SITES),
};
const CELLS = columns.acquired.length;
const cell = {
	site: new Int32Array(CELLS),
	acquired: new Uint8Array(columns.acquired),
	gone: new Uint8Array(columns.gone),
	blocks: columns.blocks,
	bytes: columns.bytes,
};
for (let at = 0, i = 0; i < SITES; i++)
	cell.site.fill(i, at, at += columns.cells[i]);

/* Nodes of stacks: 0 is the root, a parent comes before its children. */
const NODES = columns.back.length + 1;
const stacks = { parent: new Int32Array(NODES), frame: new Int32Array(NODES) };
stacks.frame.set(columns.frame, 1);
for (let i = 1; i < NODES; i++)
	stacks.parent[i] = i - columns.back[i - 1];

/* The frames of a site, the allocator first. */
function stackOf(i)
{
	const frames = [];

	for (let node = site.node[i]; node; node = stacks.parent[node])
		frames.push(stacks.frame[node]);
	return frames;
}

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

const blocks = value => number(value) + (value === 1 ? " block" : " blocks");

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

/* The number of a text for each frame, and how many there are. */
function numbered(textOf)
{
	const known = new Map();
	const numbers = Int32Array.from(data.frames, frame => {
		const text = textOf(frame);

		if (!known.has(text))
			known.set(text, known.size);
		return known.get(text);
	});

	return { numbers, texts: [...known.keys()] };
}

const functions = numbered(([name]) => name);

/* Lines of a function are one box: the first frame stands for all of them. */
const boxes = numbered(([name, library]) => library + " " + name);
const firstFrames = [];
for (let frame = data.frames.length - 1; frame >= 0; frame--)
	firstFrames[boxes.numbers[frame]] = frame;

/* What a search sees. */
function frameSought(frame)
{
	const [name, library, file] = data.frames[frame];

	return [name, library >= 0 ? data.libraries[library] : "",
		file >= 0 ? data.files[file] : ""].join("\n");
}

/*
 * What is searched for: nothing (.nodes and .wrong are not there), no regular
 * expression, or the frames that match, and the nodes at or below which they
 * are.
 */
function search(text)
{
	let sought;

	if (!text)
		return { text };
	try {
		sought = new RegExp(text, "i");
	} catch {
		return { text, wrong: true };
	}
	const frames = data.frames.map((_, frame) =>
				       sought.test(frameSought(frame)));
	const nodes = new Uint8Array(NODES);

	for (let i = 1; i < NODES; i++)
		nodes[i] = nodes[stacks.parent[i]] | frames[stacks.frame[i]];
	return { text, frames, nodes };
}

let sought = search("");

/* ---- what sites have, in a range of intervals ---- */

/* How often a cell's blocks count. */
function counts(metric)
{
	const { from, to } = state;
	const isHeld = (acquired, gone, at) => acquired < at && gone >= at;

	return {
		acquired: acquired => acquired >= from && acquired < to,
		kept: (acquired, gone) => acquired >= from && acquired < to &&
			gone >= to,
		churn: (acquired, gone) => acquired >= from && gone < to,
		growth: (acquired, gone) => isHeld(acquired, gone, to) -
			isHeld(acquired, gone, from),
	}[metric];
}

/* What is held after the last interval is exact even where cells aren't. */
function weigh()
{
	const metric = $("metric").value, unit = $("unit").value;
	const { weight } = site;

	if (metric === "latency")
		return weight.set(site.ns);
	if (metric === "peak" || metric === "temporary")
		return weight.set(site[metric][unit]);
	const often = counts(metric), size = cell[unit];

	weight.fill(0);
	for (let i = 0; i < CELLS; i++)
		weight[cell.site[i]] += size[i] *
			often(cell.acquired[i], cell.gone[i]);
}

/* ---- the flame graph: a tree of boxes, merged where they are the same ---- */

/*
 * The tree of all sites, whatever they weigh. Node 0 is the root, a parent comes
 * before its children; these are a list (first, next). leaf: where a site ends.
 */
function plant()
{
	const parent = [0], box = [-1], known = new Map();
	const once = $("collapse").checked;
	const leaf = new Int32Array(SITES);
	const childOf = (node, wanted) => {
		const key = node * boxes.texts.length + wanted;

		if (once && box[node] === wanted)
			return node;
		if (!known.has(key)) {
			known.set(key, parent.length);
			parent.push(node);
			box.push(wanted);
		}
		return known.get(key);
	};

	if ($("reverse").checked) {
		for (let i = 0; i < SITES; i++)
			for (const frame of stackOf(i))
				leaf[i] = childOf(leaf[i],
						  boxes.numbers[frame]);
	} else {
		const nodes = new Int32Array(NODES);

		for (let i = 1; i < NODES; i++)
			nodes[i] = childOf(nodes[stacks.parent[i]],
					   boxes.numbers[stacks.frame[i]]);
		for (let i = 0; i < SITES; i++)
			leaf[i] = nodes[site.node[i]];
	}
	return grow(Int32Array.from(parent), Int32Array.from(box), leaf);
}

function grow(parent, box, leaf)
{
	const count = parent.length;
	const tree = { count, parent, box, leaf };

	for (const name of ["first", "next", "depth"])
		tree[name] = new Int32Array(count);
	tree.weight = new Float64Array(count);
	tree.size = new Float64Array(count);
	tree.likely = new Uint8Array(count);
	for (let i = count - 1; i > 0; i--) {
		tree.next[i] = tree.first[parent[i]];
		tree.first[parent[i]] = i;
	}
	for (let i = 1; i < count; i++)
		tree.depth[i] = tree.depth[parent[i]] + 1;
	return tree;
}

let tree = plant();
let rows = 1;

/* Boxes are as wide as the sum of what is more and what is less. */
function load()
{
	const { parent, weight, size, likely, depth, leaf } = tree;

	for (const sums of [weight, size, likely])
		sums.fill(0);
	for (let i = 0; i < SITES; i++) {
		if (!site.weight[i])
			continue;
		weight[leaf[i]] += site.weight[i];
		size[leaf[i]] += Math.abs(site.weight[i]);
		likely[leaf[i]] |= site.verdict[i] === LIKELY;
	}
	rows = 1;
	for (let i = tree.count - 1; i > 0; i--) {
		if (!size[i])
			continue;
		weight[parent[i]] += weight[i];
		size[parent[i]] += size[i];
		likely[parent[i]] |= likely[i];
		rows = Math.max(rows, depth[i] + 1);
	}
	while (!size[state.zoom] && state.zoom)
		state.zoom = parent[state.zoom];
}

/* Warm colours by name, always the same for a name. */
function colour(name)
{
	let hash = 7;

	for (let i = 0; i < name.length; i++)
		hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
	return `hsl(${20 + hash % 70} ${55 + hash % 30}% ${68 + hash % 12}%)`;
}

const frameOf = node => firstFrames[tree.box[node]];
const nameOf = node => node ? data.frames[frameOf(node)][0] : "all";
const colours = boxes.texts.map((_, box) =>
				colour(data.frames[firstFrames[box]][0]));

function nodeText(node)
{
	const share = 100 * tree.size[node] / (tree.size[0] || 1);

	return nameOf(node) + "  " + amount(tree.weight[node]) + ", " +
		share.toFixed(1) + " %" +
		(tree.likely[node] ? ", has a LIKELY leak" : "");
}

/* What is drawn: rows of { node, left, width, colour }, from left to right; for
   a graph that is so wide. */
let levels = [], drawnWidth = 0;

function colourOf(node)
{
	if (!node)
		return colour("all");
	if (tree.weight[node] < 0)
		return "#8fb8ff";
	if (sought.frames?.[frameOf(node)])
		return "#e64fe6";
	return colours[tree.box[node]];
}

function place(node, left, width)
{
	const depth = tree.depth[node];

	levels[depth] ||= [];
	levels[depth].push({ node, left, width: Math.max(width, 1),
		     colour: colourOf(node) });
}

function placeBelow(node, left, width)
{
	const scale = width / (tree.size[node] || 1), shown = [];

	for (let child = tree.first[node]; child; child = tree.next[child])
		if (tree.size[child] * scale >= SMALLEST)
			shown.push(child);
	shown.sort((a, b) => tree.size[b] - tree.size[a] || a - b);
	for (const child of shown) {
		const share = tree.size[child] * scale;

		place(child, left, share);
		placeBelow(child, left, share);
		left += share;
	}
}

const topOf = node => ROW * ($("icicle").checked ? tree.depth[node] :
			     rows - 1 - tree.depth[node]);

/* A canvas has no more than 32767 pixels a side. */
function prepareCanvas(width)
{
	const canvas = $("flames"), height = rows * ROW;
	const scale = Math.min(devicePixelRatio || 1, 32767 / height);
	const pen = canvas.getContext("2d");

	canvas.width = Math.round(width * scale);
	canvas.height = Math.floor(height * scale);
	canvas.style.height = height + "px";
	pen.scale(scale, scale);
	pen.font = "11px ui-monospace, monospace";
	pen.textBaseline = "middle";
	return pen;
}

function drawBox(pen, box, letter)
{
	const top = topOf(box.node), room = (box.width - 6) / letter;

	pen.globalAlpha = tree.depth[box.node] < tree.depth[state.zoom] ? .5 : 1;
	pen.fillStyle = box.colour;
	pen.fillRect(box.left, top, box.width - (box.width > 2 ? 1 : 0),
		     ROW - 1);
	if (room < 2)
		return;
	pen.fillStyle = "#111";
	pen.fillText(((tree.likely[box.node] ? "! " : "") + nameOf(box.node))
		     .slice(0, room), box.left + 3, top + ROW / 2);
}

function drawFlames()
{
	const width = $("graph").clientWidth || 1000;
	const pen = prepareCanvas(width), letter = pen.measureText("m").width;

	levels = [];
	drawnWidth = width;
	for (let node = state.zoom; node; node = tree.parent[node])
		place(node, 0, width);
	place(0, 0, width);
	placeBelow(state.zoom, 0, width);
	for (const level of levels)
		for (const box of level)
			drawBox(pen, box, letter);
	point(null);
}

/* ---- the flame graph: pointing at a box, by mouse or keys ---- */

let pointed = null;

function point(box)
{
	const mark = $("mark");

	pointed = box;
	mark.hidden = !box;
	if (!box)
		return;
	mark.style.cssText = `left:${box.left}px;width:${box.width}px;` +
		`top:${topOf(box.node)}px`;
	$("flames").title = nodeText(box.node);
	detail(box.node);
}

function boxAt(x, y)
{
	const row = Math.floor(y / ROW);
	const level = levels[$("icicle").checked ? row : rows - 1 - row] ?? [];

	return level.find(box => x >= box.left && x < box.left + box.width) ??
		null;
}

function zoom(box)
{
	if (!box)
		return;
	state.zoom = box.node;
	later();
}

/* To the box beside, the one that it is called by, the first that it calls. */
function step(key)
{
	const { node } = pointed ?? levels[0][0];
	const level = levels[tree.depth[node]];
	const at = level.findIndex(box => box.node === node);
	const up = (key === "ArrowUp") !== $("icicle").checked;

	if (key === "ArrowLeft" || key === "ArrowRight")
		return level[at + (key === "ArrowLeft" ? -1 : 1)];
	return up ? levels[tree.depth[node] + 1]?.find(
			box => tree.parent[box.node] === node) :
		levels[tree.depth[node] - 1]?.find(
			box => box.node === tree.parent[node]);
}

function listenToFlames()
{
	const flames = $("flames");
	const at = event => boxAt(event.offsetX * drawnWidth /
				  flames.clientWidth, event.offsetY);

	flames.addEventListener("mousemove", event => point(at(event)));
	flames.addEventListener("mouseleave", () => point(null));
	flames.addEventListener("click", event => zoom(at(event)));
	flames.addEventListener("focus", () => point(levels[0][0]));
	flames.addEventListener("keydown", event => {
		if (event.key === "Enter")
			zoom(pointed);
		else if (event.key.startsWith("Arrow"))
			point(step(event.key) ?? pointed ?? levels[0][0]);
		else
			return;
		event.preventDefault();
	});
}

function detail(node)
{
	const [, library, file] = data.frames[frameOf(node)] ?? [0, -1, -1];

	$("detail").textContent = nodeText(node) +
		(file >= 0 ? "  " + data.files[file] : "") +
		(library >= 0 ? "  in " + data.libraries[library] : "");
}

/* What a search has found: stacks count once, however often they match. */
function tellFound()
{
	let sum = 0, all = 0, count = 0;

	if (!sought.nodes) {
		$("found").textContent = sought.wrong ?
			"no regular expression" : "";
		return;
	}
	for (let i = 0; i < SITES; i++) {
		const size = Math.abs(site.weight[i]);

		all += size;
		if (!sought.nodes[site.node[i]])
			continue;
		sum += size;
		count += size ? 1 : 0;
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
for (let i = 0; i < CELLS; i++) {
	const acquired = cell.acquired[i], gone = cell.gone[i];

	if (acquired >= gone || acquired >= data.intervals)
		continue;
	totals[acquired + 1] += cell.bytes[i];
	if (gone < data.intervals)
		totals[gone + 1] -= cell.bytes[i];
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
		`${state.from ? duration(timeAt(state.from)) : "the start"} to ` +
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
/*
 * What rows are: how many, the rows of a site (called for each of them), and
 * the name of one.
 */
const KINDS = {
	stack: () => ({
		count: SITES,
		each: (i, add) => add(i),
		name: row => stackOf(row).map(frameText).join(" < "),
	}),
	library: () => ({
		count: data.libraries.length + 1,
		each: (i, add) => add(site.library[i] + 1),
		name: row => row ? data.libraries[row - 1] : "?",
	}),
	function: () => {
		const last = new Int32Array(functions.texts.length).fill(-1);

		return {
			count: functions.texts.length,
			each: (i, add) => {
				for (let node = site.node[i]; node;
				     node = stacks.parent[node]) {
					const row = functions.numbers[
						stacks.frame[node]];

					if (last[row] !== i)
						add(row);
					last[row] = i;
				}
			},
			name: row => functions.texts[row],
		};
	},
};

function tableRows()
{
	const { count, each, name } = KINDS[$("by").value]();
	const there = new Uint8Array(count);
	const of = { name, verdict: new Uint8Array(count) };
	const sums = Object.entries({ value: site.weight, held: site.held.bytes,
				      acquired: site.all.bytes,
				      blocks: site.held.blocks })
		.map(([key, from]) => [of[key] = new Float64Array(count), from]);

	for (let i = 0; i < SITES; i++) {
		if (sought.nodes && !sought.nodes[site.node[i]])
			continue;
		each(i, row => {
			there[row] = 1;
			for (const [sum, from] of sums)
				sum[row] += from[i];
			of.verdict[row] = Math.max(of.verdict[row],
						   site.verdict[i]);
		});
	}
	const sign = state.down ? 1 : -1, key = of[state.sort];

	of.order = Int32Array.from(there.keys()).filter(row => there[row])
		.sort((a, b) => sign * (key[b] - key[a]) || a - b);
	return of;
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

function tableLine(of, row)
{
	const line = document.createElement("tr");
	const verdict = LEVELS[of.verdict[row]];

	line.append(element("td", of.name(row), { class: "name" }),
		    element("td", amount(of.value[row])),
		    element("td", bytes(of.held[row])),
		    element("td", bytes(of.acquired[row])),
		    element("td", number(of.blocks[row])));
	if (!data.difference)
		line.append(element("td", verdict, { class: verdict }));
	return line;
}

/* The table is made when it comes near what is in sight, and only as much of
   it; pixels. */
const AHEAD = 200;
let table = { order: [] };
let isStale = true;

function drawRows(from)
{
	const shown = table.order.slice(from, state.rows);
	const left = table.order.length - from - shown.length;

	$("table").tBodies[0].append(...Array.from(shown, row =>
						   tableLine(table, row)));
	$("more").hidden = !left;
	$("more").textContent = `${number(left)} more rows`;
}

function drawTable()
{
	isStale = false;
	table = tableRows();
	drawHead();
	$("table").tBodies[0].replaceChildren();
	drawRows(0);
}

function moreRows()
{
	state.rows += ROWS_AT_ONCE;
	drawRows(state.rows - ROWS_AT_ONCE);
}

function isInSight(found)
{
	const { top, bottom } = found.getBoundingClientRect();

	return top < innerHeight + AHEAD && bottom > -AHEAD;
}

function look()
{
	if (isStale && isInSight($("table").parentElement))
		drawTable();
	while (!$("more").hidden && isInSight($("more")))
		moreRows();
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

/* Who is named for it, or the caller of the allocator, or what there is. */
const callerOf = i => data.who?.[i] ??
	frameText(stackOf(i)[1] ?? stackOf(i)[0]);

function drawSite(i, line, lineOf)
{
	const box = document.createElement("details");
	const summary = document.createElement("summary");
	const list = document.createElement("ol");

	summary.append(...line);
	list.append(...stackOf(i).map(frame => element("li", lineOf(frame))));
	box.append(summary, list);
	$("verdicts").append(box);
}

function drawVerdict(i)
{
	const level = LEVELS[site.verdict[i]];

	drawSite(i, [element("span", level, { class: level }),
		     ` ${bytes(site.held.bytes[i])} in ` +
		     `${blocks(site.held.blocks[i])}: ${callerOf(i)}; ` +
		     (data.why[i] ?? "")], frameLine);
}

function drawChange(i)
{
	drawSite(i, [`${amount(site.weight[i])}: ${callerOf(i)}; ` +
		     `${bytes(site.all.bytes[i])} before, ` +
		     `${bytes(site.held.bytes[i])} now`], frameText);
}

const sum = list => list.reduce((all, size) => all + size, 0);
const allSites = [...Array(SITES).keys()];

function drawDifference()
{
	const before = sum(site.all.bytes), now = sum(site.held.bytes);
	const change = i => site.held.bytes[i] - site.all.bytes[i];

	$("leaks").textContent = "What has changed most";
	$("time").parentElement.hidden = true;
	$("metric").parentElement.hidden = true;
	$("metric").value = METRIC;
	$("answer").textContent = `${bytes(before)} before, ${bytes(now)} ` +
		`now: ${amount(now - before)}.`;
	site.weight.set(allSites.map(change));
	allSites.filter(change)
		.sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)))
		.slice(0, 30).forEach(drawChange);
	$("by").querySelector("[value=library]").remove();
}

/* What is held at the end, less what was in the middle. */
function growth()
{
	const middle = Math.floor(data.intervals / 2);
	const time = data.watched - timeAt(middle);
	const more = totals[data.intervals] - totals[middle];

	return time > 0 && more > 0 ?
		` What is held grew by ${bytes(more * 1e9 / time)} a second ` +
		"in the second half of the time." : "";
}

function drawAnswer()
{
	document.title = $("title").textContent = data.title;
	$("facts").textContent = data.facts;
	$("legend").hidden = true;
	if (data.difference)
		return drawDifference();
	const held = site.held.bytes;
	const of = level => allSites.filter(i => site.verdict[i] === level)
		.sort((a, b) => held[b] - held[a]);
	const likely = of(LIKELY), possible = of(1);
	const hold = found => (found.length === 1 ? "1 place holds " :
			       number(found.length) + " places hold ") +
		bytes(sum(found.map(i => held[i])));

	$("answer").textContent =
		(likely.length ? `Likely: ${hold(likely)}.` :
		 "Nothing that is likely to be a leak.") +
		(possible.length ? ` Possible: ${hold(possible)}.` : "") +
		growth();
	$("legend").hidden = !likely.length;
	[...likely, ...possible].slice(0, 30).forEach(drawVerdict);
	if (likely.length)
		$("verdicts").firstElementChild.open = true;
}

/* ---- all of it ---- */

function update()
{
	if (sought.text !== $("search").value)
		sought = search($("search").value);
	weigh();
	load();
	drawChart();
	drawFlames();
	tellFound();
	isStale = true;
	state.rows = ROWS_AT_ONCE;
	look();
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

/* Other boxes: what was zoomed to is no more. */
function replant()
{
	state.zoom = 0;
	tree = plant();
	later();
}

function reset()
{
	$("search").value = "";
	$("metric").value = METRIC;
	$("unit").value = "bytes";
	for (const id of ["icicle", "reverse", "collapse"])
		$(id).checked = false;
	replant();
	choose(FIRST, data.intervals);
}

for (const id of ["reverse", "collapse"])
	$(id).addEventListener("change", replant);
for (const id of ["metric", "unit", "icicle"])
	$(id).addEventListener("change", later);
$("by").addEventListener("change", drawTable);
$("more").addEventListener("click", moreRows);
$("search").addEventListener("input", later);
$("reset").addEventListener("click", reset);
new ResizeObserver(() => {
	if ($("graph").clientWidth !== drawnWidth)
		later();
}).observe($("graph"));
addEventListener("beforeprint", () => isStale && drawTable());
addEventListener("keydown", event => {
	if (event.key === "Escape") {
		state.zoom = 0;
		later();
	} else if (event.key === "/" && event.target.tagName !== "INPUT") {
		$("search").focus();
		event.preventDefault();
	}
});
listenToFlames();
for (const seen of [$("table").parentElement, $("more")])
	new IntersectionObserver(look, { rootMargin: AHEAD + "px" })
		.observe(seen);
listenToChart();
drawAnswer();
drawMatrix();
update();
