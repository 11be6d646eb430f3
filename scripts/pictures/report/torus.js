/* The torus in 3D on a canvas: nodes, links coloured by load, the images of one group of each kind (row, column).
 * Needs no library. Up to three dimensions are drawn; a slider for each further one chooses the slice.
 * The first drawn dimension runs to the right, the second up, the third into the page. */
"use strict";
(() => {
  const START = { yaw: -0.45, pitch: 0.35, zoom: 1 }, FLAT = { yaw: 0, pitch: 0, zoom: 1 };
  const STUB = 0.36;        // how far the ends of a ring stand out, in distances of nodes
  const NAME = 0.75;        // and how far beyond the last node an axis has its name
  const LETTER = 10;        // half a name and some margin, in pixels
  const EYE = 5;            // distance of the eye, in radii of the picture
  const FAST = 8000;        // links; more of them are not sorted by depth
  const MANY = 16;          // nodes that are listed by coordinates
  const find = (id) => document.getElementById(id);
  const canvas = find("torus"), context = canvas.getContext("2d");

  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const largest = (values) => values.reduce((most, value) => (value > most ? value : most), 0);
  const views = JSON.parse(find("data").textContent).views.map((view) => ({
    ...view,
    nodes: new Int32Array(bytes(view.nodes)),
    loads: Object.fromEntries(Object.entries(view.loads).map(([name, text]) => [name, new Float32Array(bytes(text))])),
  }));
  for (const view of views) view.most = largest(Object.values(view.loads).map(largest));
  const NAMES = [...new Set(views.flatMap((view) => view.dimensions))];    // of the dimensions of the grids
  const state = { view: null, ...Object.fromEntries(NAMES.map((name) => [name, 0])),   // the group of each that is shown
    exchange: Object.keys(views[0].loads)[0], direction: "both", drawn: [], slice: [], ...FLAT };
  let placed = new Map();   // node -> [x, y, radius] on the canvas

  /* ---- geometry of the torus ---- */

  const coordinates = (node) => {
    const found = [];
    for (const n of state.view.shape) { found.push(node % n); node = Math.floor(node / n); }
    return found;
  };
  const nodeAt = (c) => c.reduceRight((node, value, i) => node * state.view.shape[i] + value, 0);
  const size = () => product(state.view.shape);
  const further = () => state.view.shape.map((_, i) => i).filter((i) => state.view.shape[i] > 1 && !state.drawn.includes(i));
  const inSlice = (c) => further().every((i) => c[i] === state.slice[i]);

  const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
  const stride = (d) => product(state.view.grid.slice(0, d));
  const groups = (d) => product(state.view.grid) / state.view.grid[d];
  /* Ranks of the group of dimension d that is shown, and which group of it a rank is in. */
  const ranksOf = (d) => {
    const s = stride(d), n = state.view.grid[d], number = state[state.view.dimensions[d]];
    return Array.from({ length: n }, (_, k) => number % s + Math.floor(number / s) * s * n + k * s);
  };
  const groupOf = (rank, d) => rank % stride(d) + Math.floor(rank / (stride(d) * state.view.grid[d])) * stride(d);
  const nodesOf = (ranks) => [...new Set(ranks.map((rank) => state.view.nodes[rank]))].sort((a, b) => a - b);

  /* Nodes of the slice: all combinations of the drawn coordinates. */
  function sliceNodes() {
    let found = [state.slice.slice()];
    for (const i of state.drawn) {
      found = found.flatMap((c) => Array.from({ length: state.view.shape[i] }, (_, k) => c.with(i, k)));
    }
    return found;
  }

  function load(i, lower, upper) {
    if (state.exchange === "none") return 0;
    const values = state.view.loads[state.exchange], n = size();
    const up = values[(2 * i) * n + lower], down = values[(2 * i + 1) * n + upper];
    return { both: Math.max(up, down), 0: up, 1: down }[state.direction];
  }

  /* One scale for each exchange and all at once, and for all placements on this torus, so that a colour is a load. */
  function largestLoad() {
    if (state.exchange === "none") return 0;
    const shape = String(state.view.shape);
    return largest(views.filter((view) => String(view.shape) === shape).map((view) => view.most));
  }

  /* ---- projection ---- */

  function camera() {
    const { width, height } = canvas.getBoundingClientRect();
    const extents = state.drawn.map((i) => state.view.shape[i] - 1);
    const names = extents.map((_, k) => Math.hypot(...extents.map((n, j) => n / 2 + (j === k ? NAME : 0))));
    const radius = Math.max(Math.hypot(...extents) / 2 + STUB, ...names);
    const scale = state.zoom * (0.5 * Math.min(width, height) - LETTER) / radius * 0.98;
    const [sy, cy, sp, cp] = [Math.sin(state.yaw), Math.cos(state.yaw), Math.sin(state.pitch), Math.cos(state.pitch)];
    return (point) => {
      const [x, y, z] = [0, 1, 2].map((k) => (k < point.length ? point[k] - extents[k] / 2 : 0));
      const [a, b] = [x * cy + z * sy, z * cy - x * sy];
      const [up, depth] = [y * cp + b * sp, b * cp - y * sp];
      const near = EYE * radius / (EYE * radius + depth);
      return { x: width / 2 + a * scale * near, y: height / 2 - up * scale * near, depth, near, step: scale * near };
    };
  }

  /* ---- what is drawn: links and nodes, farthest first ---- */

  const colours = () => {
    const style = getComputedStyle(document.documentElement), known = new Map();
    return (name) => {
      if (!known.has(name)) known.set(name, style.getPropertyValue(`--${name}`).trim());
      return known.get(name);
    };
  };

  function ramp(colour) {
    const stops = ["low", "mid", "high"].map((name) => colour(name).match(/[\da-f]{2}/gi).map((h) => parseInt(h, 16)));
    return (share) => {
      const k = share < 0.5 ? 0 : 1, t = 2 * share - k;
      return `rgb(${stops[k].map((a, i) => Math.round(a + (stops[k + 1][i] - a) * t)).join(" ")})`;
    };
  }

  /* Lines of one link: between neighbours, or the two ends of a ring. */
  function linkLines(c, i) {
    const n = state.view.shape[i], point = state.drawn.map((j) => c[j]), at = state.drawn.indexOf(i);
    const moved = (by) => point.with(at, point[at] + by);
    if (c[i] < n - 1) return [[point, moved(1)]];
    if (!state.view.ring[i]) return [];
    return [[point, moved(STUB)], [point.with(at, 0), point.with(at, -STUB)]];
  }

  function linkItems(all, project, most, colour) {
    const shade = ramp(colour), items = [];
    for (const c of all) {
      for (const i of state.drawn) {
        const value = load(i, nodeAt(c), nodeAt(c.with(i, (c[i] + 1) % state.view.shape[i])));
        const share = most ? value / most : 0;
        for (const ends of linkLines(c, i)) {
          const [a, b] = ends.map(project);
          items.push({ depth: Math.max(a.depth, b.depth) + 0.01, a, b, share, colour: share ? shade(share) : colour("rule") });
        }
      }
    }
    return items;
  }

  function nodeItems(all, project, images) {
    return all.map((c) => {
      const node = nodeAt(c), at = project(state.drawn.map((i) => c[i]));
      const holding = images.flatMap((image, d) => (image.has(node) ? [d] : []));
      const kind = holding.length > 1 ? "both" : holding[0] ?? "other";
      const within = (least, share, most) => Math.min(most, Math.max(least, at.step * share));
      const radius = kind === "other" ? within(0.8, 0.045, 3) : within(3.5, 0.21, 12);
      return { depth: at.depth, at, node, kind, radius };
    });
  }

  function drawLink(item) {
    context.strokeStyle = item.colour;
    context.lineWidth = Math.max(0.5, (0.6 + 2 * item.share) * item.a.near * Math.min(1, item.a.step / 26));
    context.beginPath();
    context.moveTo(item.a.x, item.a.y);
    context.lineTo(item.b.x, item.b.y);
    context.stroke();
  }

  /* Many links: not by depth but the most loaded on top; links of equal load in one stroke. */
  function drawLinksByLoad(items) {
    const groups = Map.groupBy(items.sort((a, b) => a.share - b.share), (item) => item.colour);
    for (const [colour, group] of groups) {
      context.strokeStyle = colour;
      context.lineWidth = Math.max(0.4, 2 * group[0].share * Math.min(1, group[0].a.step / 26));
      context.beginPath();
      for (const { a, b } of group) { context.moveTo(a.x, a.y); context.lineTo(b.x, b.y); }
      context.stroke();
    }
  }

  const SHAPES = {
    other: ({ x, y }, r) => context.arc(x, y, r, 0, 2 * Math.PI),
    0: ({ x, y }, r) => context.arc(x, y, r, 0, 2 * Math.PI),
    1: ({ x, y }, r) => context.rect(x - 0.85 * r, y - 0.85 * r, 1.7 * r, 1.7 * r),
    both: ({ x, y }, r) => [[0, -1], [1, 0], [0, 1], [-1, 0]].forEach(([a, b], k) =>
      context[k ? "lineTo" : "moveTo"](x + 1.25 * r * a, y + 1.25 * r * b)),
  };
  const FILL = { other: "grey", 0: "blue", 1: "vermillion", both: "ink" };

  function drawNode(item, colour) {
    context.beginPath();
    SHAPES[item.kind](item.at, item.radius);
    context.closePath();
    context.fillStyle = colour(FILL[item.kind]);
    context.fill();
    if (item.kind === "other") return;
    context.lineWidth = 1;
    context.strokeStyle = colour("paper");
    context.stroke();
  }

  /* Names of the axes at the ends of the lines that leave the first node. */
  function drawAxes(project, colour) {
    Object.assign(context, { fillStyle: colour("ink"), strokeStyle: colour("well"), lineWidth: 4, lineJoin: "round" });
    context.font = "14px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    state.drawn.forEach((i, k) => {
      const end = project(state.drawn.map((j, other) => (other === k ? state.view.shape[j] - 1 + NAME : 0)));
      context.strokeText(state.view.axes[i], end.x, end.y);
      context.fillText(state.view.axes[i], end.x, end.y);
    });
  }

  function fitCanvas() {
    const { width, height } = canvas.getBoundingClientRect(), dots = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * dots), Math.round(height * dots)];
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
    context.setTransform(dots, 0, 0, dots, 0, 0);
    context.clearRect(0, 0, width, height);
  }

  function draw() {
    fitCanvas();
    const colour = colours(), project = camera(), all = sliceNodes(), most = largestLoad();
    const nodes = nodeItems(all, project, state.view.grid.map((_, d) => new Set(nodesOf(ranksOf(d)))));
    placed = new Map(nodes.map((item) => [item.node, [item.at.x, item.at.y, item.radius]]));
    const links = linkItems(all, project, most, colour);
    if (links.length > FAST) drawLinksByLoad(links);
    const items = [...(links.length > FAST ? [] : links), ...nodes].sort((a, b) => b.depth - a.depth);
    for (const item of items) item.kind !== undefined ? drawNode(item, colour) : drawLink(item);
    drawAxes(project, colour);
  }

  let waiting = false;
  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  /* ---- the words beside the picture ---- */

  function describe(what, d) {
    const ranks = ranksOf(d), nodes = nodesOf(ranks), spans = spread(nodes);
    const hidden = nodes.filter((node) => !inSlice(coordinates(node))).length;
    const listed = nodes.slice(0, MANY).map((node) => `(${coordinates(node).join(", ")})`).join(" ");
    const [text, mark, name] = ["p", "i", "b"].map((kind) => document.createElement(kind));
    mark.className = `mark ${what}`;
    name.textContent = `${what} ${state[what]}`;
    text.append(mark, " ", name, `: ${counted(ranks, "rank")} on ${counted(nodes, "node")} (${spans})`,
      hidden ? `, ${hidden} outside this slice` : "", `: ${listed}${nodes.length > MANY ? " \u2026" : ""}`);
    return text;
  }

  const rounded = (value) => Number(value.toPrecision(4));
  const counted = (things, name) => `${things.length} ${name}${things.length === 1 ? "" : "s"}`;
  const spread = (nodes) => state.view.shape.map((_, i) =>
    `${new Set(nodes.map((node) => coordinates(node)[i])).size} in ${state.view.axes[i]}`).join(", ");

  function tell() {
    const loads = document.createElement("p");
    loads.className = "hint";
    loads.textContent = "Loads of one cable on the scale of m, 4 \u00b7 load \u00b7 N / D_T, "
      + `under routing ${state.view.routing}.`
      + (state.exchange === "none" ? "" : ` The busiest link shown here carries ${rounded(largest(state.view.loads[state.exchange]))}.`);
    find("nodes").replaceChildren(...state.view.dimensions.map(describe), loads);
    find("scale").style.display = state.exchange === "none" ? "none" : "";
    find("largest").textContent = rounded(largestLoad());
  }

  /* ---- choices ---- */

  function show() {
    for (const name of [...NAMES, "exchange", "direction"]) find(name).value = state[name];
    for (const name of NAMES) find(name).parentNode.hidden = !state.view.dimensions.includes(name);
    for (const option of find("exchange").options) option.hidden = option.value !== "none" && !(option.value in state.view.loads);
    tell();
    redraw();
  }

  const start = () => (state.drawn.length < 3 ? FLAT : START);

  function chooseView(number) {
    const before = start();
    state.view = views[number];
    const longest = state.view.shape.map((n, i) => [n, i]).filter(([n]) => n > 1).sort(([a, i], [b, j]) => b - a || i - j);
    state.drawn = longest.slice(0, 3).map(([, i]) => i).sort((a, b) => a - b);
    if (!state.drawn.length) state.drawn = [0];
    if (start() !== before) Object.assign(state, start());
    state.view.dimensions.forEach((name, d) => { find(name).max = groups(d) - 1; });
    if (state.exchange !== "none" && !(state.exchange in state.view.loads)) state.exchange = Object.keys(state.view.loads)[0];
    choose({});
    state.slice = coordinates(state.view.nodes[ranksOf(0)[0]]);
    dimensionControls();
  }

  function choose(chosen) {
    const within = (value, n) => Math.min(Math.max(Math.trunc(value) || 0, 0), n - 1);
    state.view.dimensions.forEach((name, d) => { state[name] = within(chosen[name] ?? state[name], groups(d)); });
  }

  /* Replace a slice that shows nothing of the first image by one that does. */
  function chooseAndShow(chosen) {
    choose(chosen);
    const nodes = nodesOf(ranksOf(0));
    if (!nodes.some((node) => inSlice(coordinates(node)))) state.slice = coordinates(nodes[0]);
    dimensionControls();
    show();
  }

  function labelled(text, control) {
    const label = document.createElement("label");
    label.append(text, control);
    return label;
  }

  /* Which dimensions are drawn, and where the others are cut; only where there are more than can be drawn. */
  function dimensionControls() {
    const focused = document.activeElement && document.activeElement.id;
    const box = find("dimensions"), many = state.view.shape.filter((n) => n > 1).length > 3;
    box.replaceChildren(...(many ? [...state.drawn.map(axisControl), ...further().map(sliceControl)] : []));
    if (many && focused && box.querySelector(`#${focused}`)) find(focused).focus();
  }

  function axisControl(dimension, place) {
    const select = document.createElement("select");
    select.id = `axis-${place}`;
    state.view.shape.forEach((n, i) => {
      if (n > 1) select.add(new Option(state.view.axes[i], i, false, i === dimension));
    });
    select.addEventListener("change", () => {
      const chosen = Number(select.value), other = state.drawn.indexOf(chosen);
      if (other >= 0) state.drawn[other] = state.drawn[place];
      state.drawn[place] = chosen;
      dimensionControls();
      show();
    });
    return labelled(["right", "up", "deep"][place], select);
  }

  function sliceControl(dimension) {
    const input = document.createElement("input"), value = document.createElement("output");
    Object.assign(input, { id: `slice-${dimension}`, type: "range", min: 0, max: state.view.shape[dimension] - 1 });
    input.value = value.value = state.slice[dimension];
    input.addEventListener("input", () => {
      value.value = state.slice[dimension] = Number(input.value);
      show();
    });
    const label = labelled(`slice ${state.view.axes[dimension]}`, input);
    label.append(value);
    return label;
  }

  function listenToForm() {
    find("view").addEventListener("change", (event) => { chooseView(Number(event.target.value)); show(); });
    for (const name of ["exchange", "direction"]) {
      find(name).addEventListener("change", (event) => { state[name] = event.target.value; show(); });
    }
    for (const name of NAMES) {
      find(name).addEventListener("change", (event) => chooseAndShow({ [name]: event.target.value }));
    }
  }

  /* ---- keyboard and mouse on the picture ---- */

  const turn = (yaw, pitch) => {
    state.yaw += yaw;
    state.pitch = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, state.pitch + pitch));
    redraw();
  };
  const zoom = (factor) => { state.zoom = Math.min(8, Math.max(0.4, state.zoom * factor)); redraw(); };
  const around = (value, step, n) => (value + step + n) % n;
  const step = (name, by) => {
    const d = state.view.dimensions.indexOf(name);
    if (d >= 0) chooseAndShow({ [name]: around(state[name], by, groups(d)) });
  };
  const KEYS = {
    ArrowLeft: () => turn(-0.1, 0), ArrowRight: () => turn(0.1, 0),
    ArrowUp: () => turn(0, -0.1), ArrowDown: () => turn(0, 0.1),
    "+": () => zoom(1.2), "=": () => zoom(1.2), "-": () => zoom(1 / 1.2),
    0: () => { Object.assign(state, start()); redraw(); },
    ...Object.fromEntries(NAMES.flatMap((name) => [[name[0], () => step(name, 1)],
      [name[0].toUpperCase(), () => step(name, -1)]])),
  };

  function listenToCanvas() {
    let from = null, far = 0;
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
      KEYS[event.key]();
      event.preventDefault();
    });
    canvas.addEventListener("pointerdown", (event) => {
      [from, far] = [event, 0];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      const [dx, dy] = [event.clientX - from.clientX, event.clientY - from.clientY];
      far += Math.hypot(dx, dy);
      from = event;
      turn(dx * 0.008, dy * 0.008);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (from && far < 4) pick(event.offsetX, event.offsetY);
      from = null;
    });
    canvas.addEventListener("pointercancel", () => { from = null; });
  }

  /* The groups of the first rank on the node under the pointer. */
  function pick(x, y) {
    let best = null, nearest = 14;
    for (const [node, [a, b]] of placed) {
      const distance = Math.hypot(a - x, b - y);
      if (distance < nearest) [best, nearest] = [node, distance];
    }
    const rank = best === null ? -1 : state.view.nodes.indexOf(best);
    if (rank >= 0) chooseAndShow(Object.fromEntries(state.view.dimensions.map((name, d) => [name, groupOf(rank, d)])));
  }

  listenToForm();
  listenToCanvas();
  new ResizeObserver(redraw).observe(canvas);
  for (const query of ["print", "screen and (prefers-color-scheme: dark)"]) {
    matchMedia(query).addEventListener("change", draw);     // at once: a printer does not wait for the next picture
  }
  window.pencilmap = { place: (node) => placed.get(node), state };   // for the console, and for tests
  chooseView(0);
  show();
})();
