/* Tori in 3D on canvases: nodes, links coloured by load, the images of one group of each kind (row, column).
 * Two placements on one shape stand side by side, seen from the same side, on one scale of loads.
 * Needs no library. Up to three dimensions are drawn; a slider for each further one chooses the slice.
 * The first drawn dimension runs to the right, the second up, the third into the page. */
"use strict";
(() => {
  const START = { yaw: -0.45, pitch: 0.35, zoom: 1, pan: [0, 0] }, FLAT = { ...START, yaw: 0, pitch: 0 };
  const STUB = 0.36;        // how far the ends of a ring stand out, in distances of nodes
  const NAME = 0.75;        // and how far beyond the last node an axis has its name
  const MARGIN = 16;        // for a mark or half a name at the edge of the frame, in pixels
  const EYE = 5;            // distance of the eye, in radii of the picture
  const FAST = 8000;        // links; more of them are not sorted by depth
  const MANY = 16;          // nodes that are listed by coordinates
  const NEAR = 7;           // pixels from which the pointer is at a link
  const find = (id) => document.getElementById(id);

  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const largest = (values) => values.reduce((most, value) => (value > most ? value : most), 0);
  const data = JSON.parse(find("data").textContent);
  const views = data.views.map((view) => ({
    ...view,
    nodes: new Int32Array(bytes(view.nodes)),
    loads: Object.fromEntries(Object.entries(view.loads).map(([name, text]) => [name, new Float32Array(bytes(text))])),
  }));
  for (const view of views) view.most = largest(Object.values(view.loads).map(largest));
  const NAMES = [...new Set(views.flatMap((view) => view.dimensions))];    // of the dimensions of the grids
  const state = { ...Object.fromEntries(NAMES.map((name) => [name, 0])),   // the group of each that is shown
    exchange: Object.keys(views[0].loads)[0], direction: "both", drawn: [], slice: [], ...FLAT };

  /* One picture: its view, and what is drawn where: node -> [x, y, radius], and the lines of links. */
  const panels = ["", "-2"].filter((id) => find(`torus${id}`)).map((id) => ({ id, canvas: find(`torus${id}`),
    context: find(`torus${id}`).getContext("2d"), select: find(`view${id}`), words: find(`nodes${id}`),
    tip: find(`tip${id}`), view: null, placed: new Map(), lines: [] }));
  const shown = () => panels.filter((panel) => panel.view);

  /* ---- geometry of the torus, which is the same in all pictures ---- */

  const shape = () => panels[0].view.shape;
  const coordinates = (node) => {
    const found = [];
    for (const n of shape()) { found.push(node % n); node = Math.floor(node / n); }
    return found;
  };
  const nodeAt = (c) => c.reduceRight((node, value, i) => node * shape()[i] + value, 0);
  const size = () => product(shape());
  const further = () => shape().map((_, i) => i).filter((i) => shape()[i] > 1 && !state.drawn.includes(i));
  const inSlice = (c) => further().every((i) => c[i] === state.slice[i]);

  const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
  const stride = (view, d) => product(view.grid.slice(0, d));
  const groups = (view, d) => product(view.grid) / view.grid[d];
  const within = (value, n) => Math.min(Math.max(Math.trunc(value) || 0, 0), n - 1);
  /* The group of dimension d that is shown, its ranks, and which group of it a rank is in. */
  const groupShown = (view, d) => within(state[view.dimensions[d]], groups(view, d));
  const ranksOf = (view, d) => {
    const s = stride(view, d), n = view.grid[d], number = groupShown(view, d);
    return Array.from({ length: n }, (_, k) => number % s + Math.floor(number / s) * s * n + k * s);
  };
  const groupOf = (view, rank, d) =>
    rank % stride(view, d) + Math.floor(rank / (stride(view, d) * view.grid[d])) * stride(view, d);
  const nodesOf = (view, ranks) => [...new Set(ranks.map((rank) => view.nodes[rank]))].sort((a, b) => a - b);

  /* Nodes of the slice: all combinations of the drawn coordinates. */
  function sliceNodes() {
    let found = [state.slice.slice()];
    for (const i of state.drawn) {
      found = found.flatMap((c) => Array.from({ length: shape()[i] }, (_, k) => c.with(i, k)));
    }
    return found;
  }

  /* Loads of the link from `lower` to `upper` along i, upwards and downwards. */
  function loads(view, i, lower, upper) {
    const values = view.loads[state.exchange], n = size();
    return values ? [values[(2 * i) * n + lower], values[(2 * i + 1) * n + upper]] : [0, 0];
  }

  function load(view, i, lower, upper) {
    const [up, down] = loads(view, i, lower, upper);
    return { both: Math.max(up, down), 0: up, 1: down }[state.direction];
  }

  /* One scale for each exchange and all at once, and for all placements on this torus, so that a colour is a load. */
  function largestLoad() {
    return state.exchange === "none" ? 0 : largest(alike(panels[0].view).map((view) => view.most));
  }
  const alike = (view) => views.filter((other) => kindOf(other) === kindOf(view));
  const kindOf = (view) => `${view.shape} ${view.ring}`;

  /* ---- projection ---- */

  /* Turns a point of the torus: [right, up] in distances of nodes, nearer ones larger, and its depth. */
  function turned(angles) {
    const extents = state.drawn.map((i) => shape()[i] - 1), radius = Math.hypot(...extents) / 2 + NAME;
    const [sy, cy, sp, cp] = [Math.sin(angles.yaw), Math.cos(angles.yaw), Math.sin(angles.pitch), Math.cos(angles.pitch)];
    return (point) => {
      const [x, y, z] = [0, 1, 2].map((k) => (k < point.length ? point[k] - extents[k] / 2 : 0));
      const [a, b] = [x * cy + z * sy, z * cy - x * sy];
      const [up, depth] = [y * cp + b * sp, b * cp - y * sp];
      const near = EYE * radius / (EYE * radius + depth);
      return { right: a * near, up: up * near, depth, near };
    };
  }

  /* The frame of all that is drawn so: least and most to the right, and up. */
  function frame(angles) {
    const turn = turned(angles);
    const out = (i) => (panels[0].view.ring[i] && shape()[i] > 1 ? STUB : 0);
    const ends = state.drawn.map((i) => [-out(i), shape()[i] - 1 + out(i)]);
    let points = [[]];
    for (const pair of ends) points = points.flatMap((point) => pair.map((value) => [...point, value]));
    for (const k of state.drawn.keys()) points.push(nameAt(k));
    const found = points.map(turn), [right, up] = ["right", "up"].map((key) => found.map((point) => point[key]));
    return [Math.min(...right), Math.max(...right), Math.min(...up), Math.max(...up)];
  }

  const nameAt = (k) => state.drawn.map((j, other) => (other === k ? shape()[j] - 1 + NAME : 0));

  /* The picture fills its frame, however it is turned; the zoom is about that. */
  function camera(canvas) {
    const { width, height } = canvas.getBoundingClientRect(), turn = turned(state);
    const [left, right, bottom, top] = frame(state);
    const fit = Math.min((width - 2 * MARGIN) / Math.max(right - left, 0.5),
      (height - 2 * MARGIN) / Math.max(top - bottom, 0.5));
    const scale = state.zoom * fit, [x, y] = [width / 2 + state.pan[0], height / 2 + state.pan[1]];
    return (point) => {
      const at = turn(point);
      return { x: x + (at.right - (left + right) / 2) * scale, y: y - (at.up - (top + bottom) / 2) * scale,
        depth: at.depth, near: at.near, step: scale * at.near };
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
    const n = shape()[i], point = state.drawn.map((j) => c[j]), at = state.drawn.indexOf(i);
    const moved = (by) => point.with(at, point[at] + by);
    if (c[i] < n - 1) return [[point, moved(1)]];
    if (!panels[0].view.ring[i]) return [];
    return [[point, moved(STUB)], [point.with(at, 0), point.with(at, -STUB)]];
  }

  function linkItems(view, all, project, most, colour) {
    const shade = ramp(colour), items = [];
    for (const c of all) {
      for (const i of state.drawn) {
        const [lower, upper] = [nodeAt(c), nodeAt(c.with(i, (c[i] + 1) % shape()[i]))], value = load(view, i, lower, upper);
        const share = most ? value / most : 0;
        for (const ends of linkLines(c, i)) {
          const [a, b] = ends.map(project);
          items.push({ depth: Math.max(a.depth, b.depth) + 0.01, a, b, share, colour: share ? shade(share) : colour("rule"),
            i, lower, upper });
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

  function drawLink(context, item) {
    context.strokeStyle = item.colour;
    context.lineWidth = Math.max(0.5, (0.6 + 2 * item.share) * item.a.near * Math.min(1, item.a.step / 26));
    context.beginPath();
    context.moveTo(item.a.x, item.a.y);
    context.lineTo(item.b.x, item.b.y);
    context.stroke();
  }

  /* Many links: not by depth but the most loaded on top; links of equal load in one stroke. */
  function drawLinksByLoad(context, items) {
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
    other: (context, { x, y }, r) => context.arc(x, y, r, 0, 2 * Math.PI),
    0: (context, { x, y }, r) => context.arc(x, y, r, 0, 2 * Math.PI),
    1: (context, { x, y }, r) => context.rect(x - 0.85 * r, y - 0.85 * r, 1.7 * r, 1.7 * r),
    both: (context, { x, y }, r) => [[0, -1], [1, 0], [0, 1], [-1, 0]].forEach(([a, b], k) =>
      context[k ? "lineTo" : "moveTo"](x + 1.25 * r * a, y + 1.25 * r * b)),
  };
  const FILL = { other: "grey", 0: "blue", 1: "vermillion", both: "ink" };

  function drawNode(context, item, colour) {
    context.beginPath();
    SHAPES[item.kind](context, item.at, item.radius);
    context.closePath();
    context.fillStyle = colour(FILL[item.kind]);
    context.fill();
    if (item.kind === "other") return;
    context.lineWidth = 1;
    context.strokeStyle = colour("paper");
    context.stroke();
  }

  /* Names of the axes at the ends of the lines that leave the first node. */
  function drawAxes(context, project, colour) {
    Object.assign(context, { fillStyle: colour("ink"), strokeStyle: colour("well"), lineWidth: 4, lineJoin: "round" });
    context.font = "14px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    state.drawn.forEach((i, k) => {
      const end = project(nameAt(k)), name = panels[0].view.axes[i];
      context.strokeText(name, end.x, end.y);
      context.fillText(name, end.x, end.y);
    });
  }

  function fitCanvas({ canvas, context }) {
    const { width, height } = canvas.getBoundingClientRect(), dots = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * dots), Math.round(height * dots)];
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
    context.setTransform(dots, 0, 0, dots, 0, 0);
    context.clearRect(0, 0, width, height);
  }

  function drawPanel(panel) {
    fitCanvas(panel);
    const { context, view } = panel, most = largestLoad();
    const colour = colours(), project = camera(panel.canvas), all = sliceNodes();
    const nodes = nodeItems(all, project, view.grid.map((_, d) => new Set(nodesOf(view, ranksOf(view, d)))));
    const links = linkItems(view, all, project, most, colour);
    panel.placed = new Map(nodes.map((item) => [item.node, [item.at.x, item.at.y, item.radius]]));
    panel.lines = links;
    if (links.length > FAST) drawLinksByLoad(context, links.slice());
    const items = [...(links.length > FAST ? [] : links), ...nodes].sort((a, b) => b.depth - a.depth);
    for (const item of items) item.kind !== undefined ? drawNode(context, item, colour) : drawLink(context, item);
    drawAxes(context, project, colour);
  }

  const draw = () => shown().forEach(drawPanel);

  let waiting = false;
  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  /* ---- the words beside the picture ---- */

  function describe(view, what, d) {
    const ranks = ranksOf(view, d), nodes = nodesOf(view, ranks), spans = spread(view, nodes);
    const hidden = nodes.filter((node) => !inSlice(coordinates(node))).length;
    const listed = nodes.slice(0, MANY).map((node) => `(${coordinates(node).join(", ")})`).join(" ");
    const [text, mark, name] = ["p", "i", "b"].map((kind) => document.createElement(kind));
    mark.className = `mark ${what}`;
    name.textContent = `${what} ${groupShown(view, d)}`;
    text.append(mark, " ", name, `: ${counted(ranks, "rank")} on ${counted(nodes, "node")} (${spans})`,
      hidden ? `, ${hidden} outside this slice` : "", `: ${listed}${nodes.length > MANY ? " \u2026" : ""}`);
    return text;
  }

  const shownLoad = (value) => `${Number(value.toPrecision(4))}${data.unit}`;
  const counted = (things, name) => `${things.length} ${name}${things.length === 1 ? "" : "s"}`;
  const spread = (view, nodes) => view.shape.map((_, i) =>
    `${new Set(nodes.map((node) => coordinates(node)[i])).size} in ${view.axes[i]}`).join(", ");

  function tell({ view, words }) {
    const busiest = document.createElement("p");
    busiest.className = "busiest";
    if (view.loads[state.exchange]) {
      const name = document.createElement("b");
      name.textContent = shownLoad(largest(view.loads[state.exchange]));
      busiest.append("The busiest link shown here carries ", name, `, under routing ${view.routing}.`);
    }
    words.replaceChildren(busiest, ...view.dimensions.map((what, d) => describe(view, what, d)));
  }

  /* ---- what is under the pointer ---- */

  const named = (view, node) => `(${coordinates(node).join(", ")})${view.hosts[node] ? ` ${view.hosts[node]}` : ""}`;

  function aboutNode(view, node) {
    const ranks = [...view.nodes.keys()].filter((rank) => view.nodes[rank] === node), some = ranks.slice(0, 4);
    const seats = some.map((rank) => `rank ${rank} (${view.dimensions.map((name, d) =>
      `${name} ${groupOf(view, rank, d)}`).join(", ")})`).join(", ");
    const lines = [`node ${named(view, node)}`, seats ? seats + (ranks.length > 4 ? `, ${ranks.length - 4} more` : "") : "no rank"];
    const around = shape().flatMap((n, i) => {
      const c = coordinates(node), [up, down] = [1, n - 1].map((step) => nodeAt(c.with(i, (c[i] + step) % n)));
      return n > 1 ? [...loads(view, i, node, up), ...loads(view, i, down, node)] : [];
    }).filter((value) => value === value);
    return view.loads[state.exchange] ? [...lines, `its links carry at most ${shownLoad(largest(around))}`] : lines;
  }

  function aboutLink(view, { i, lower, upper }) {
    const [up, down] = loads(view, i, lower, upper), share = Math.max(up, down) / (largestLoad() || 1);
    const lines = [`link in ${view.axes[i]}: ${named(view, lower)} \u2013 ${named(view, upper)}`];
    return view.loads[state.exchange] ? [...lines, `load ${shownLoad(up || 0)} upwards, ${shownLoad(down || 0)} downwards: `
      + `${Math.round(100 * share)} % of the largest on this scale`] : lines;
  }

  /* The node, or else the link, nearest to a place in the picture. */
  function at(panel, x, y) {
    const node = nodeNear(panel, x, y, 3);
    if (node !== null) return aboutNode(panel.view, node);
    let best = null, nearest = NEAR;
    for (const line of panel.lines) {
      const distance = distanceTo(line, x, y);
      if (distance < nearest || (best && distance < NEAR / 2 && line.depth < best.depth)) [best, nearest] = [line, distance];
    }
    return best ? aboutLink(panel.view, best) : [];
  }

  function nodeNear(panel, x, y, beyond) {
    let best = null, nearest = Infinity;
    for (const [node, [a, b, radius]] of panel.placed) {
      const distance = Math.hypot(a - x, b - y);
      if (distance < nearest && distance <= radius + beyond) [best, nearest] = [node, distance];
    }
    return best;
  }

  function distanceTo({ a, b }, x, y) {
    const [dx, dy] = [b.x - a.x, b.y - a.y], length = dx * dx + dy * dy || 1;
    const t = Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) / length));
    return Math.hypot(a.x + t * dx - x, a.y + t * dy - y);
  }

  function hover(panel, x, y) {
    const lines = at(panel, x, y), { tip, canvas } = panel;
    tip.hidden = !lines.length;
    if (!lines.length) return;
    tip.replaceChildren(...lines.map((line) => Object.assign(document.createElement("div"), { textContent: line })));
    tip.style.left = `${Math.max(0, Math.min(x + 14, canvas.clientWidth - tip.offsetWidth - 2))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > canvas.clientHeight ? Math.max(0, y - tip.offsetHeight - 8) : y + 18}px`;
  }

  /* ---- choices ---- */

  /* How many times faster the second placement is, in large figures between the pictures. */
  function tellFactor() {
    if (!find("factor")) return;
    const [before, after] = panels.map((panel) => data.amounts[views.indexOf(panel.view)]);
    const known = panels[1].view && before && after, factor = known ? before / after : 0;
    find("factor").hidden = !known;
    if (!known) return;
    const number = document.createElement("b");
    number.textContent = `${Math.max(factor, 1 / factor).toFixed(2)}\u00d7`;
    find("factor").replaceChildren(number, factor < 1 ? ` ${data.faster} before` : ` ${data.faster}`);
  }

  const spoken = (view) => `${view.title}. ${view.loads[state.exchange]
    ? `The busiest link shown carries ${shownLoad(largest(view.loads[state.exchange]))}.` : ""} The nodes are listed below.`;

  function show() {
    for (const panel of shown()) {
      tell(panel);
      panel.canvas.setAttribute("aria-label", spoken(panel.view));
    }
    tellFactor();
    const every = shown().map((panel) => panel.view);
    for (const name of [...NAMES, "exchange", "direction"]) find(name).value = state[name];
    for (const name of NAMES) find(name).parentNode.hidden = !every.some((view) => view.dimensions.includes(name));
    for (const option of find("exchange").options) {
      option.hidden = option.value !== "none" && !every.some((view) => option.value in view.loads);
    }
    find("scale").style.display = state.exchange === "none" ? "none" : "";
    find("largest").textContent = shownLoad(largestLoad());
    redraw();
  }

  const start = () => (state.drawn.length < 3 ? FLAT : START);

  /* A view in the first picture; the second keeps one on the same torus, or is empty. */
  function chooseView(number, other) {
    const before = panels[0].view && start(), again = panels[0].view && kindOf(views[number]) === kindOf(panels[0].view);
    panels[0].view = views[number];
    if (!again) {
      const longest = shape().map((n, i) => [n, i]).filter(([n]) => n > 1).sort(([a, i], [b, j]) => b - a || i - j);
      state.drawn = longest.slice(0, 3).map(([, i]) => i).sort((a, b) => a - b);
      if (!state.drawn.length) state.drawn = [0];
      if (start() !== before) Object.assign(state, start());
    }
    if (panels[1]) chooseOther(other);
    const every = shown().map((panel) => panel.view);
    for (const name of NAMES) {
      const most = every.filter((view) => view.dimensions.includes(name)).map((view) =>
        groups(view, view.dimensions.indexOf(name)));
      if (most.length) find(name).max = Math.max(...most) - 1;
    }
    const known = panels[0].view.loads;
    if (state.exchange !== "none" && !(state.exchange in known)) state.exchange = Object.keys(known)[0];
    choose({});
    if (!again) state.slice = coordinates(panels[0].view.nodes[ranksOf(panels[0].view, 0)[0]]);
    const [left, right, bottom, top] = frame(start());
    const ratio = Math.min(3, Math.max(0.9, (right - left) / Math.max(top - bottom, 0.1)));
    for (const { canvas } of panels) {
      canvas.style.aspectRatio = ratio;
      canvas.parentNode.style.maxWidth = `calc(${ratio} * min(36rem, 80vh))`;    // the height that page.css allows
    }
    dimensionControls();
  }

  function chooseOther(number) {
    const [first, second] = panels, same = alike(first.view);
    const wanted = views[number] ?? second.view;
    second.view = same.length < 2 ? null : same.includes(wanted) ? wanted : same.find((view) => view !== first.view);
    second.select.closest("figure").hidden = !second.view;
    for (const option of second.select.options) option.hidden = !same.includes(views[option.value]);
    if (second.view) second.select.value = views.indexOf(second.view);
    first.select.value = views.indexOf(first.view);
  }

  function choose(chosen) {
    for (const name of NAMES) {
      state[name] = within(chosen[name] ?? state[name], Number(find(name).max || 0) + 1);
    }
  }

  /* Replace a slice that shows nothing of the first image by one that does. */
  function chooseAndShow(chosen) {
    choose(chosen);
    const { view } = panels[0], nodes = nodesOf(view, ranksOf(view, 0));
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
    const box = find("dimensions"), many = shape().filter((n) => n > 1).length > 3;
    box.replaceChildren(...(many ? [...state.drawn.map(axisControl), ...further().map(sliceControl)] : []));
    if (many && focused && box.querySelector(`#${focused}`)) find(focused).focus();
  }

  function axisControl(dimension, place) {
    const select = document.createElement("select");
    select.id = `axis-${place}`;
    shape().forEach((n, i) => {
      if (n > 1) select.add(new Option(panels[0].view.axes[i], i, false, i === dimension));
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
    Object.assign(input, { id: `slice-${dimension}`, type: "range", min: 0, max: shape()[dimension] - 1 });
    input.value = value.value = state.slice[dimension];
    input.addEventListener("input", () => {
      value.value = state.slice[dimension] = Number(input.value);
      show();
    });
    const label = labelled(`slice ${panels[0].view.axes[dimension]}`, input);
    label.append(value);
    return label;
  }

  function listenToForm() {
    panels.forEach(({ select }, k) => select.addEventListener("change", (event) => {
      const number = Number(event.target.value);
      k ? chooseView(views.indexOf(panels[0].view), number) : chooseView(number);
      show();
    }));
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
  /* About the place [x, y] from the middle of the picture, which stays where it is. */
  const zoom = (factor, [x, y] = [0, 0]) => {
    const before = state.zoom;
    state.zoom = Math.min(8, Math.max(0.4, before * factor));
    const by = state.zoom / before;
    state.pan = state.zoom <= 1 ? [0, 0] : [x - (x - state.pan[0]) * by, y - (y - state.pan[1]) * by];
    redraw();
  };
  const around = (value, step, n) => (value + step + n) % n;
  const step = (name, by) => {
    if (!find(name).parentNode.hidden) chooseAndShow({ [name]: around(state[name], by, Number(find(name).max) + 1) });
  };
  const KEYS = {
    ArrowLeft: () => turn(-0.1, 0), ArrowRight: () => turn(0.1, 0),
    ArrowUp: () => turn(0, -0.1), ArrowDown: () => turn(0, 0.1),
    "+": () => zoom(1.2), "=": () => zoom(1.2), "-": () => zoom(1 / 1.2),
    0: () => { Object.assign(state, start()); redraw(); },
    ...Object.fromEntries(NAMES.flatMap((name) => [[name[0], () => step(name, 1)],
      [name[0].toUpperCase(), () => step(name, -1)]])),
  };

  function listenToCanvas(panel) {
    const { canvas, tip } = panel;
    let from = null, far = 0;
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
      KEYS[event.key]();
      event.preventDefault();
    });
    canvas.addEventListener("wheel", (event) => {
      if (event.deltaY > 0 && state.zoom <= 1) return;     // nothing to leave: the page scrolls
      zoom(Math.exp(-event.deltaY / 400), [event.offsetX - canvas.clientWidth / 2, event.offsetY - canvas.clientHeight / 2]);
      event.preventDefault();
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      [from, far] = [event, 0];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) { hover(panel, event.offsetX, event.offsetY); return; }
      const [dx, dy] = [event.clientX - from.clientX, event.clientY - from.clientY];
      far += Math.hypot(dx, dy);
      from = event;
      tip.hidden = true;
      turn(dx * 0.008, dy * 0.008);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (from && far < 4) pick(panel, event.offsetX, event.offsetY);
      from = null;
    });
    canvas.addEventListener("pointercancel", () => { from = null; });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  }

  /* The groups of the first rank on the node under the pointer. */
  function pick(panel, x, y) {
    const node = nodeNear(panel, x, y, 10), { view } = panel;
    const rank = node === null ? -1 : view.nodes.indexOf(node);
    if (rank >= 0) chooseAndShow(Object.fromEntries(view.dimensions.map((name, d) => [name, groupOf(view, rank, d)])));
    hover(panel, x, y);
  }

  listenToForm();
  for (const panel of panels) {
    listenToCanvas(panel);
    new ResizeObserver(redraw).observe(panel.canvas);
  }
  for (const query of ["print", "screen and (prefers-color-scheme: dark)"]) {
    matchMedia(query).addEventListener("change", draw);     // at once: a printer does not wait for the next picture
  }
  /* For the console, and for tests. */
  window.pencilmap = { place: (node, k = 0) => panels[k].placed.get(node), lines: (k = 0) => panels[k].lines, state };
  chooseView(data.first, data.second);
  show();
})();
