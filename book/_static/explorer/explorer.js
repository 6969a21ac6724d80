// The explorer: a digit, a small network of the book, four things to try. It loads the rest when it comes
// into sight and takes the place of a picture. That stays without scripts, in print, where a file is damaged.
"use strict";
(() => {
  const HERE = new URL(".", document.currentScript.src);
  const SAMPLES = 200, DIRECTIONS = 100, TRAININGS = 5;
  const SIZE = 61, REACH = 12;    // points along a side of a plane, and how far they reach from the digit
  const PAUSE = 900;              // ms between two steps of a search
  const NOISE_SEED = 1, DIRECTIONS_SEED = 2, PLANE_SEED = 3;
  let count = 0;      // of explorers, for names

  // ---- elements ------------------------------------------------------------------------------------------
  function filled(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== false && value !== null) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children);
    return node;
  }
  const make = (tag, attributes = {}, ...children) =>
    filled(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  const percent = share => `${(100 * share).toFixed(share && share < 0.1 ? 1 : 0)}%`;
  const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

  function draw(canvas, width, paint) {     // paint(place) gives red, green, blue
    canvas.width = canvas.height = width;
    const context = canvas.getContext("2d"), data = context.createImageData(width, width);
    for (let p = 0; p < width * width; p++) data.data.set([...paint(p), 255], 4 * p);
    context.putImageData(data, 0, 0);
  }
  const rgb = hex => [1, 3, 5].map(k => parseInt(hex.slice(k, k + 2), 16));

  // An image with a caption; `show` takes it in [0, 1].
  function picture(name, outer = "figure", inner = "figcaption") {
    const canvas = make("canvas", {role: "img"}), caption = make(inner);
    return {
      node: make(outer, {}, canvas, caption),
      show(image, ...words) {
        draw(canvas, 28, p => Array(3).fill(Math.round(255 * image[p])));
        caption.replaceChildren(...words);
        canvas.setAttribute("aria-label", `${name}: ${caption.textContent}`);
      },
    };
  }

  function slider(attributes, oninput) {
    const words = make("span"), input = make("input", {type: "range", ...attributes});
    input.addEventListener("input", () => oninput(+input.value));
    return {
      node: make("label", {class: "slider"}, words, input), input,
      show(value, text) {
        input.value = value;
        words.textContent = text;
        input.setAttribute("aria-valuetext", text);
      },
    };
  }

  // ---- files, worker -------------------------------------------------------------------------------------
  const loaded = name => window.EXPLORER?.[name];
  const load = name => loaded(name) ?? new Promise((resolve, reject) => {
    const script = make("script", {src: new URL(`${name}.js`, HERE)});
    script.onload = () => loaded(name) ? resolve(loaded(name)) : reject(Error(`${name}.js is incomplete`));
    script.onerror = () => reject(Error(`${name}.js is missing`));
    document.head.append(script);
  });

  const style = () => new Promise((resolve, reject) => {
    const link = make("link", {rel: "stylesheet", href: new URL("explorer.css", HERE)});
    link.onload = resolve;
    link.onerror = () => reject(Error("explorer.css is missing"));
    document.head.append(link);
  });

  function opened(core, part, name, file) {
    try {
      return core[part](file);
    } catch {
      throw Error(`${name}.js is damaged`);
    }
  }

  // Jobs of core.js in a worker, or in slices on this page where there is none: `ask(kind, job, then)` gives
  // `then` each part and, at the end, null; a later job of a kind ends the one before, `ask(kind)` too.
  function desk(core) {
    const wanted = {}, messages = new Map();      // the last message of each kind and place
    let id = 0;
    const receive = reply => {
      const {id, then} = wanted[reply.kind];
      if (reply.id === id) then(reply.done ? null : reply.part);
    };
    let post;
    function here() {
      post = core.serve(receive);
      messages.forEach(message => post(message));
    }
    try {
      const source = `"use strict";
        const serve = (${loaded("core")})().serve(reply => postMessage(reply));
        onmessage = event => serve(event.data);`;
      const worker = new Worker(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
      worker.onmessage = event => receive(event.data);
      worker.onerror = here;
      post = message => worker.postMessage(message);
    } catch {
      here();
    }
    const send = message => {
      messages.set(`${message.kind} ${message.place ?? ""}`, message);
      post(message);
    };
    return {
      network: (place, file) => send({kind: "network", place, file}),
      ask(kind, job, then) {
        wanted[kind] = {id: ++id, then};
        send({kind, id, ...job});
      },
    };
  }

  // ---- the explorer --------------------------------------------------------------------------------------
  function explorer(core, digits, file) {
    const net = opened(core, "network", "weights-0", file), nets = [net];
    const greys = opened(core, "digits", "digits", digits), colours = digits.colours.map(rgb);
    const own = `explorer-${++count}`, {ask, network} = desk(core);
    network(0, file);
    let digit = digits.labels.indexOf(7), image, label, attack, active;

    // A label as text on its colour, black or white by what is easier to read.
    const bright = ([r, g, b]) => (0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2) / 255 ** 2.2;
    const inks = colours.map(colour => bright(colour) > 0.179 ? "#000" : "#fff");
    const tint = k => `background-color: ${digits.colours[k]}; color: ${inks[k]} !important`;
    const chip = k => make("span", {class: "chip", style: tint(k)}, `${k}`);

    // A panel: what to do, its parts, what is to be seen now, pages of the book on it.
    function panel(name, lead, pages, ...parts) {
      const words = make("p", {class: "seen", "aria-live": "polite"});
      const links = pages.flatMap(([text, page]) =>
        [" · ", make("a", {href: new URL(`../../notebooks/${page}.html`, HERE)}, text)]);
      return {
        name,
        node: make("div", {role: "tabpanel", hidden: true}, make("p", {class: "lead"}, lead), ...parts, words,
                   make("p", {class: "pages"}, "In the book: ", ...links.slice(1))),
        say: (...sentence) => words.replaceChildren(...sentence),
      };
    }

    // ---- mix ---------------------------------------------------------------------------------------------
    function mixing() {
      let grey = 255, searched, timer, shown;
      const names = {255: "white", 0: "black"};
      const shots = ["digit", "mixture", "mixture", "background"].map(name => picture(name));
      const strip = make("div", {class: "strip", role: "img", onpointerdown: pointed,
                                 onpointermove: event => event.buttons && pointed(event)});
      const path = make("ol", {class: "path"}), alike = make("p");
      const ends = [0, 1].map(() => make("span", {class: "end"}));
      const bar = slider({min: 0, max: 200}, value => { stop(); look(value / 200); });
      const run = make("button", {type: "button", onclick: play}, "Run the search step by step");
      const choice = [255, 0].map(value => make("label", {}, make("input", {
        type: "radio", name: `${own}-background`, checked: value === 255,
        onchange() { grey = value; update(); compare(); }}), ` ${names[value]}`));
      const tab = panel("Mix",
        "Mix the digit with white or black: where does its label change? The network assigns one of ten "
          + "labels to every image, even to pure white. Which digit keeps its label longest?",
        [["Ren et al., Section III", "ren/iii_borderline"], ["Section IV", "ren/iv_simulation"]],
        make("div", {class: "images mixing"}, shots[0].node,
             make("div", {class: "pair"}, shots[1].node, shots[2].node, alike), shots[3].node),
        make("div", {class: "track"}, strip, ...ends, bar.node),
        make("div", {class: "images controls"},
             make("fieldset", {}, make("legend", {}, "Mix with"), ...choice), run),
        make("p", {class: "legend"}, "Each step mixes the two sides half and half; the mixture "
          + "replaces the side that has its label. The number is the similarity of the two sides then. "
          + "Tap a mixture to see both."), path);

      const mixed = s => image.map(value => (1 - s) * value + s * grey / 255);
      const slide = share => bar.show(200 * share, `${percent(share)} ${names[grey]}`);

      function pointed({clientX}) {
        const {left, width} = strip.getBoundingClientRect();
        stop();
        look(Math.min(1, Math.max(0, (clientX - left) / width)));
      }

      // A mixture of the slider.
      function look(share) {
        const now = mixed(share), k = net.label(now);
        const near = core.ssim(now.map(value => 255 * value), greys[digit]).toFixed(2);
        shots[1].show(now, "mixture ", chip(k));
        shots[2].node.hidden = true;
        alike.textContent = `similarity to the digit ${near}`;
        slide(share);
        tab.say(`At ${percent(share)} ${names[grey]}, the network assigns the label `, chip(k),
                k === label ? ", as to the digit" : ", another one than to the digit",
                `; the similarity (SSIM) of mixture and digit is ${near}, where 1 means identical.`);
      }

      function stripes() {
        const labels = Array.from({length: 201}, (_, n) => net.label(mixed(n / 200))), runs = [];
        labels.forEach((k, n) => n && labels[n - 1] === k ? runs.at(-1).n++ : runs.push({k, n: 1}));
        strip.replaceChildren(...runs.map(({k, n}) =>
          make("span", {style: `flex-grow: ${n}; ${tint(k)}`}, n > 6 ? `${k}` : "")));
        const order = runs.map(({k}) => k).join(", ");
        strip.setAttribute("aria-label", `Labels from the digit to ${names[grey]}: ${order}`);
      }

      // The two sides after some steps of the search, of which the first ones are drawn.
      function steps(number, drawn = number) {
        shown = drawn;
        const {length} = searched.steps, last = searched.steps[number - 1];
        [last ? last.near : 0, last ? last.far : 1].forEach((at, k) => {
          ends[k].style.setProperty("--at", at);
          ends[k].hidden = !length;
        });
        path.replaceChildren(...searched.steps.slice(0, drawn).map(({image, label, similarity}, k) => {
          const shot = picture(`mixture ${k + 1}`, "button", "span");
          shot.show(core.scaled(image), chip(label), ` ${similarity.toFixed(4)}`);
          const back = () => { stop(); steps(k + 1, shown); path.children[k].firstChild.focus(); };
          filled(shot.node, {type: "button", "aria-pressed": `${k + 1 === number}`, onclick: back}, []);
          return make("li", {}, shot.node);
        }));
        path.append(...Array.from({length: length - drawn}, () => make("li", {class: "empty"})));
        if (!last) { look(0); return; }
        shots[1].show(core.scaled(last.last), "side ", chip(label));
        shots[2].show(core.scaled(last.first), "side ", chip(last.other));
        shots[2].node.hidden = false;
        alike.textContent = `similarity ${last.similarity.toFixed(4)}`;
        slide(last.keeps ? last.near : last.far);
        const end = number < length ? ["."] : [
          `; the search stops above ${digits.threshold}. The last `, chip(label),
          ` and the digit are less alike: ${searched.reach.toFixed(2)}.`];
        tab.say(`After ${number} mixture${number > 1 ? "s" : ""}, the last `, chip(label), " and the first ",
                chip(last.other), ` have a similarity (SSIM) of ${last.similarity.toFixed(4)}, where 1 means `,
                "identical", ...end);
      }

      function stop() {
        clearTimeout(timer);
        timer = null;
        run.textContent = "Run the search step by step";
      }

      function play() {
        if (timer) { stop(); steps(searched.steps.length); return; }
        if (still()) { steps(shown % searched.steps.length + 1); return; }      // a step a click
        run.textContent = "Skip to the end";
        const next = number => {
          steps(number);
          if (number < searched.steps.length) timer = setTimeout(next, PAUSE, number + 1);
          else stop();
        };
        timer = setTimeout(next, 0, 0);
      }

      function update() {
        stop();
        searched = core.search(net, greys[digit], grey, digits.threshold, digits.most);
        run.disabled = !searched.steps.length;
        shots[0].show(image, "digit ", chip(label));
        shots[3].show(mixed(1), `${names[grey]} `, chip(searched.background));
        stripes();
        steps(searched.steps.length);
        if (!searched.steps.length) {
          tab.say("The network assigns the label ", chip(label), ` to the all-${names[grey]} image, too: `,
                  `the search needs two labels. Mix with ${names[255 - grey]}.`);
        }
      }
      // How far the digit keeps its label towards the background.
      const rate = pixels => {
        const {steps, reach} = core.search(net, pixels, grey, digits.threshold, digits.most);
        return steps.length ? reach.toFixed(2) : "–";
      };
      return {...tab, update, leave: stop, rate, rated: () =>
        `Under each digit: similarity (SSIM) of the digit and the last mixture with ${names[grey]} that has its label`};
    }

    // ---- charts ------------------------------------------------------------------------------------------
    const [LEFT, RIGHT, LOW, HIGH] = [46, 390, 170, 44];
    const along = norm => LEFT + (RIGHT - LEFT) * norm / core.TOP;
    const text = (x, y, words, more = {}) => svg("text", {x, y, ...more}, words);

    function chart(title, ...marks) {
      const ticks = [0, 2, 4, 6, 8, 10, 12].map(n =>
        text(along(n), LOW + 18, `${n}`, {"text-anchor": "middle"}));
      return [svg("path", {d: `M${LEFT} ${HIGH}V${LOW}H${RIGHT}`, class: "axis"}), ...ticks,
              text((LEFT + RIGHT) / 2, LOW + 36, title, {"text-anchor": "middle"}), ...marks];
    }
    const frame = () => svg("svg", {viewBox: "0 0 400 212", role: "img", class: "chart"});

    // What compares the digits where steps along the gradient are taken.
    const nearest = {
      rated: () => "Under each digit: norm of the smallest step along the gradient that changes the label",
      rate(grey) {
        const {norm} = core.attack(net, core.scaled(grey));
        return norm < Infinity ? norm.toFixed(2) : "–";
      },
    };

    // ---- shake and push ----------------------------------------------------------------------------------
    function shaking() {
      let at, flips, pushed, sample = 0, noise;
      const plot = frame();
      const shots = ["digit", "with noise", "with a step along the gradient"].map(name => picture(name));
      const bar = slider({min: 1, max: core.NORMS}, value => { at = value; look(); compute(); });
      const other = make("button", {type: "button", onclick() { sample = (sample + 1) % SAMPLES; look(); }},
                         "Another noise sample");
      const tab = panel("Noise and attack",
        "Add noise to the digit, or a step along the gradient: the change of pixels that lowers the "
          + "confidence in the label fastest. Both have the same norm, the length of a change. Which digit "
          + "withstands noise?",
        [["Sutton et al., Section 7.2.1", "sutton/7_2_1_cifar10"], ["the paradox", "sutton/3_paradox"]],
        make("div", {class: "two"},
             make("div", {}, make("div", {class: "images"}, ...shots.map(shot => shot.node)), other),
             make("div", {}, plot, make("div", {class: "under"}, bar.node))));

      function look() {
        const norm = at * core.STEP, shaken = core.moved(image, norm, noise[sample]);
        const step = core.moved(image, norm, attack.u), k = net.label(step), now = flips[at];
        shots[0].show(image, "digit ", chip(label));
        shots[1].show(shaken, "noise ", chip(net.label(shaken)));
        shots[2].show(step, "step ", chip(k));
        bar.show(at, `norm ${norm.toFixed(2)} (the digit's own: ${Math.hypot(...image).toFixed(2)})`);
        const points = flips.map((n, k) => [along(k * core.STEP), LOW - (LOW - HIGH) * n / SAMPLES]);
        const x = along(norm), high = pushed.map(k => k === label ? LOW : HIGH);
        plot.replaceChildren(...chart("norm: length of what is added",
          ...["0%", "50%", "100%"].map((words, k) =>
            text(LEFT - 6, LOW - (LOW - HIGH) * k / 2 + 4, words, {"text-anchor": "end"})),
          svg("path", {d: `M${x} ${HIGH}V${LOW}`, class: "now"}),
          svg("path", {class: "attack", d: `M${LEFT} ${LOW}` + high.map((y, k) =>
            `H${along((k + 0.5) * core.STEP)}V${y}`).join("") + `H${RIGHT}`}),
          svg("polyline", {points: points.filter(p => p).join(" "), class: "noise"}),
          ...key()));
        plot.setAttribute("aria-label", `Share of ${SAMPLES} noise samples that change the label, by norm: ${
          flips.filter((_, k) => k % 8 === 0).map(n => percent(n / SAMPLES)).join(", ")}.`);
        const half = flips.findIndex(n => n >= SAMPLES / 2) * core.STEP;
        const counted = Object.keys(flips).length > core.NORMS;
        const smallest = attack.norm < Infinity ? `The smallest step that does has norm ${attack.norm.toFixed(2)}`
          : `No step up to norm ${core.TOP} does`;
        const compared = !counted ? ["."] : half > 0 ? [
          `; half of the noise samples change it by norm ${half.toFixed(2)}`,
          attack.norm < Infinity ? `, ${(half / attack.norm).toFixed(1)} times as far.` : "."] : [
          `; noise up to norm ${core.TOP} never changes it for half of the samples: with one of that norm, the `,
          "network assigns ", chip(label), ` to ${noisy()} of these ${greys.length} digits.`];
        tab.say(`At norm ${norm.toFixed(2)}, ${now ?? "still counting how many"} of ${SAMPLES} noise samples `,
                "change the label ", chip(label), "; a step of this norm along the gradient ",
                ...k !== label ? ["changes it to ", chip(k)]
                  : norm > attack.norm ? ["leads back to ", chip(k)] : ["does not"],
                `. ${smallest}`, ...compared);
      }

      // To how many digits with a strong noise sample the network assigns the label of this one.
      const noisy = () => greys.filter(grey =>
        net.label(core.moved(core.scaled(grey), core.TOP, noise[0])) === label).length;

      const key = () =>
        [["noise", "noise samples that change the label"], ["attack", "step along the gradient"]].flatMap(
          ([name, words], k) => [svg("path", {d: `M${LEFT} ${8 + 17 * k}h24`, class: name}),
                                 text(LEFT + 32, 12 + 17 * k, words)]);

      function compute() {
        const steps = Array.from({length: core.NORMS}, (_, k) => k + 1).filter(k => flips[k] === undefined);
        if (!steps.length) return;
        steps.sort((a, b) => Math.abs(a - at) - Math.abs(b - at));
        ask("flips", {image, steps, count: SAMPLES, seed: NOISE_SEED}, part => {
          if (part) flips[part.step] = part.flips;
          look();
        });
      }

      function update() {
        noise ??= core.directions(SAMPLES, NOISE_SEED);
        flips = [0];
        pushed = Array.from({length: core.NORMS}, (_, k) =>
          net.label(core.moved(image, (k + 1) * core.STEP, attack.u)));
        at = Math.min(core.NORMS, Math.ceil(attack.norm / core.STEP - 1e-9));
        look();
        compute();
      }
      return {...tab, update, ...nearest};
    }

    // ---- planes ------------------------------------------------------------------------------------------
    let turn = 0, pair = 0;     // of the random direction, in degrees; which two it is turned between
    let point;                  // that is looked at: along the gradient, along the random direction
    const CELL = 2 * REACH / (SIZE - 1), EDGE = REACH + CELL / 2;
    const direction = () => core.across(attack.u, PLANE_SEED + pair, turn * Math.PI / 180);
    const limited = value => Math.min(REACH, Math.max(-REACH, value));

    // Colours of the points of a plane and marks over them; `paint` gives the colour of a place.
    function map(name, more = {}, named = false) {
      const canvas = make("canvas", {"aria-hidden": "true"}), over = svg("svg", {
        viewBox: [-EDGE, -EDGE, 2 * EDGE, 2 * EDGE].join(" "), "aria-hidden": "true"});
      return {
        node: make("div", {class: "map", role: "img", "aria-label": name, ...more}, canvas, over),
        show: paint => draw(canvas, SIZE, paint),
        marks(numerals = []) {
          over.replaceChildren(
            ...named ? [
              text(EDGE - 0.4, EDGE - 0.5, "along the gradient →", {class: "axis-name axis-end"}),
              text(0.4 - EDGE, 1.4 - EDGE, "↑ random direction", {class: "axis-name"}),
              ...[4, 8].flatMap(r => [svg("circle", {r, class: "norm"}),
                                      text(0, r - 0.2, `norm ${r}`, {class: "axis-name middle"})])] : [],
            ...numerals.map(({k, x, y}) => text(x, y + 0.7, `${k}`, {fill: inks[k], class: "numeral"})),
            svg("circle", {r: 0.45, class: "mark"}),
            ...attack.norm <= REACH ? [svg("circle", {cx: attack.norm, r: 0.45, class: "mark hit"})] : [],
            svg("circle", {cx: point[0], cy: -point[1], r: 0.9, class: "ring"}));
        },
      };
    }

    // Where to write each label: at its place that is farthest from other labels and the edge, off the marks.
    function numerals(labels) {
      const depth = new Uint8Array(labels.length), best = {}, marks = [[0, 0], [attack.norm, 0], point];
      const least = (p, ...steps) => 1 + Math.min(...steps.map(step =>
        labels[p + step] === labels[p] ? depth[p + step] : 0));
      for (let p = 0; p < labels.length; p++) depth[p] = p % SIZE ? least(p, -1, -SIZE) : 1;
      for (let p = labels.length - 1; p >= 0; p--) {
        const k = labels[p], x = p % SIZE * CELL - REACH, y = Math.floor(p / SIZE) * CELL - REACH;
        depth[p] = Math.min(depth[p], (p + 1) % SIZE ? least(p, 1, SIZE) : 1);
        if (depth[p] > (best[k]?.depth ?? 3) && marks.every(([s, t]) => Math.hypot(x - s, y + t) > 1.8)) {
          best[k] = {k, x, y, depth: depth[p]};
        }
      }
      return Object.values(best);
    }

    // Labels of the plane along v by some networks, for `then(labels, stride)`: of every sixth point, of every
    // third, of all; the points between have that of the nearest. A plane waits for the coarse labels of the one
    // before, so that maps follow a drag; they are pale until they show the last plane.
    let awaited = false, following = null;
    function plane(maps, v, of, then) {
      maps.forEach(one => one.node.classList.add("old"));
      following = () => {
        [awaited, following] = [true, null];
        ask("plane", {image, u: attack.u, v, of, size: SIZE, reach: REACH}, part => {
          if (!part) return;
          const {labels, stride} = part, near = k => Math.round(k / stride) * stride;
          const place = p => near(Math.floor(p / SIZE)) * SIZE + near(p % SIZE);
          awaited = false;
          if (!following) maps.forEach(one => one.node.classList.remove("old"));
          then(labels.map(one => one.map((_, p) => one[place(p)])), stride);
          following?.();
        });
      };
      if (!awaited) following();
    }

    // Turning and looking: by pointer on any map of a node (drag, tap), by keys, by a slider.
    function steered(node, look, compute) {
      let start = null, dragged;
      node.addEventListener("pointerdown", event => {
        const board = event.target.closest(".map");
        if (!board) return;
        start = {x: event.clientX, turn, board};
        dragged = false;
        board.setPointerCapture(event.pointerId);
      });
      node.addEventListener("pointermove", event => {
        if (!start) return;
        dragged ||= Math.abs(event.clientX - start.x) > 4;
        if (dragged) turned(start.turn + Math.round((event.clientX - start.x) / 2) * 2);
      });
      node.addEventListener("pointerup", event => {
        if (start && !dragged) {
          const {left, top, width, height} = start.board.getBoundingClientRect();
          const [x, y] = [(event.clientX - left) / width, (event.clientY - top) / height];
          point = [limited((2 * x - 1) * EDGE), limited((1 - 2 * y) * EDGE)];
          look();
        }
        start = null;
      });
      node.addEventListener("pointercancel", () => { start = null; });
      node.addEventListener("keydown", event => {
        const move = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
        const angle = {PageUp: 10, PageDown: -10}[event.key], far = (event.shiftKey ? 5 : 1) * CELL;
        if (!move && !angle) return;
        event.preventDefault();
        if (angle) { turned(turn + angle); return; }
        point = point.map((value, k) => limited(value + far * move[k]));
        look();
      });
      function turned(value) {
        turn = (value % 360 + 360) % 360;
        compute();
      }
      const bar = slider({min: 0, max: 358, step: 2}, turned);
      const other = make("button", {type: "button", onclick() { pair++; turn = 0; compute(); }},
                         "Another random direction");
      return {nodes: [bar.node, other], show: () => bar.show(turn, `random direction turned by ${turn}°`)};
    }
    const KEYS = "arrow keys move the ring, Page Up and Page Down turn the plane";
    const legend = (where, ...more) => make("p", {class: "legend"}, ...more,
      "○ digit · ● where the step changes the label · ◎ ring".replace(/([^·]) (?=[^·])/g, "$1\u00a0"),
      make("span", {class: "keys"}, `Keys on the ${where}map: ${KEYS}.`));
    const PLANE = {tabindex: 0, role: "application", "aria-roledescription": "map"};

    // ---- look around -------------------------------------------------------------------------------------
    function around() {
      let labels, v, distances, upwards;   // the last: the norm at which the label changes along v
      const board = map(`Labels in a plane through the digit; ${KEYS}`, PLANE, true);
      const shot = picture("image at the ring"), plot = frame(), steer = steered(board.node, look, compute);
      const tab = panel("Look around",
        "The digit is in the middle. To the right the image moves along the gradient, upwards in one random "
          + "direction. Drag left or right to turn that one: does the label ever change there as near as "
          + "along the gradient? Tap to see an image.",
        [["He et al., Section 4", "he/4_boundary"]],
        make("div", {class: "two"},
             make("div", {}, board.node, legend(""), ...steer.nodes),
             make("div", {}, make("div", {class: "images"}, shot.node), plot)));

      function look() {
        const now = core.moved(image, point[0], attack.u, point[1], v);
        shot.show(now, "image at the ring ", chip(net.label(now)));
        board.marks(labels ? numerals(labels) : []);
      }

      function compute() {
        const own = v = direction();
        let norm = null;
        steer.show();
        look();
        plane([board], own, [0], given => {
          [labels] = given;
          upwards = norm ??= core.crossing(net, image, own, core.STEP);
          board.show(p => colours[labels[p]]);
          look();
          histogram();
        });
      }

      function histogram() {
        if (!distances || !labels) return;
        const bins = Array(24).fill(0), width = core.TOP / 24, reached = distances.filter(n => n < Infinity);
        const near = attack.norm < Infinity, changes = (norm, where) => norm < Infinity
          ? `changes ${where} at norm ${norm.toFixed(2)}` : `does not change ${where} up to norm ${core.TOP}`;
        reached.forEach(n => { bins[Math.min(23, Math.floor(n / width - 1e-6))]++; });
        const top = Math.max(10, ...bins), y = n => LOW - (LOW - HIGH) * n / top;
        const x = along(Math.min(attack.norm, core.TOP)), anchor = x > 250 ? "end" : "start";
        plot.replaceChildren(...chart("norm at which the label changes",
          ...[0, top].map(n => text(LEFT - 6, y(n) + 4, `${n}`, {"text-anchor": "end"})),
          text(4, 12, `of ${DIRECTIONS} other random directions; ┊ upwards in the plane`),
          ...bins.map((n, k) => svg("rect", {
            class: "bar", x: along(k * width), y: y(n), width: along(width) - LEFT - 1, height: LOW - y(n)})),
          ...upwards < Infinity ? [svg("path", {d: `M${along(upwards)} ${HIGH}V${LOW}`, class: "shown"})] : [],
          ...near ? [
            svg("path", {d: `M${x} ${HIGH - 18}V${LOW}`, class: "attack"}),
            text(x + (anchor === "end" ? -6 : 6), HIGH - 8, "along the gradient", {"text-anchor": anchor}),
          ] : []));
        const sorted = [...distances].sort((a, b) => a - b), half = sorted[Math.ceil(sorted.length / 2) - 1];
        plot.setAttribute("aria-label", `Histogram of the norms in ${distances.length} random directions`);
        tab.say("The label ", chip(label), ` ${changes(attack.norm, "along the gradient")}, and it `,
                `${changes(upwards, "upwards in the plane")}. Of ${distances.length} other random directions`,
                distances.length < DIRECTIONS ? " so far, " : ", ",
                `${reached.length || "none"} change${reached.length > 1 ? "" : "s"} it up to norm ${core.TOP}`,
                half < Infinity ? `, half of them by ${half.toFixed(2)}` : "",
                reached.length ? `, the nearest at ${sorted[0].toFixed(2)}` : "",
                reached.length && near ? `: ${(sorted[0] / attack.norm).toFixed(1)} times as far as along the `
                  + "gradient." : ".");
      }

      function update() {
        distances = labels = null;
        compute();
        tab.say("…");
        ask("distances", {image, count: DIRECTIONS, seed: DIRECTIONS_SEED}, part => {
          if (part) { distances = part.norms; histogram(); }
        });
      }
      return {...tab, update, ...nearest};
    }

    // ---- compare trainings -------------------------------------------------------------------------------
    function comparing() {
      let labels, v, ready, stride;
      const DIFFER = [[240, 240, 240], [190, 170, 230], [130, 80, 200]];     // one label, two, more
      const maps = Array.from({length: TRAININGS}, (_, k) => map(`Labels by training ${k + 1}`));
      const captions = maps.map(() => make("figcaption"));
      const differ = map(`Where the trainings disagree; ${KEYS}`, PLANE);
      const boards = make("div", {class: "maps"},
        ...maps.map((one, k) => make("figure", {}, one.node, captions[k])),
        make("figure", {}, differ.node, make("figcaption", {}, "where they disagree")));
      const steer = steered(boards, look, compute);
      const kinds = DIFFER.flatMap((colour, k) => [
        make("span", {class: "chip", style: `background-color: rgb(${colour})`}),
        ` ${["one label", "two", "three or more"][k]} · `]);
      const tab = panel("Compare trainings",
        "The same plane by five networks that differ only in the seed, the random start of their training. "
          + "The ring starts where the label of training 1 changes along its gradient: does this image mislead "
          + "the others? Drag any map to turn the plane, tap one to move the ring.",
        [["Shu et al., Section 2", "shu/2_regions"], ["disagreement as an alarm", "shu/2_4_alarm"]],
        boards, legend("last ", ...kinds), make("div", {class: "images controls"}, ...steer.nodes));

      function look() {
        if (!ready) return;
        const now = core.moved(image, point[0], attack.u, point[1], v);
        const given = nets.map(one => one.label(now));
        const changed = given.filter((k, n) => k !== nets[n].label(image)).length;
        maps.forEach((one, k) => {
          captions[k].replaceChildren(`training ${k + 1} `, chip(given[k]));
          one.marks(labels ? numerals(labels[k]) : []);
        });
        differ.marks();
        const apart = labels?.[0].filter((k, p) => labels.some(other => other[p] !== k)).length / SIZE ** 2;
        const share = stride ? `${stride > 1 ? "about " : ""}${percent(apart)}` : "…";
        tab.say(`The five trainings disagree on ${share} of this plane. At the ring`,
                point[0] === attack.norm && point[1] === 0 ? ", where the label of training 1 changes along its "
                  + "gradient," : "", " they assign ",
                make("span", {class: "labels"}, ...given.flatMap((k, n) => [n ? " " : "", chip(k)])),
                `: ${changed} of ${TRAININGS} give${changed === 1 ? "s" : ""} it another label than the digit.`);
      }

      function compute() {
        if (!ready) return;
        v = direction();
        steer.show();
        stride = 0;
        look();
        plane([...maps, differ], v, nets.map((_, k) => k), (given, by) => {
          [labels, stride] = [given, following ? 0 : by];
          maps.forEach((one, k) => one.show(p => colours[labels[k][p]]));
          differ.show(p => DIFFER[Math.min(3, new Set(labels.map(one => one[p])).size) - 1]);
          look();
        });
      }

      async function update() {
        if (!ready) {
          tab.say("Four more trainings are being loaded …");
          try {
            for (let k = nets.length; k < TRAININGS; k++) {
              const file = await load(`weights-${k}`);
              nets[k] ??= opened(core, "network", `weights-${k}`, file);
              network(k, file);
            }
          } catch (error) {
            tab.say(`The trainings cannot be compared: ${error.message}.`);
            rated.textContent = "";
            return;
          }
          ready = true;
          if (active === tab.name) compare();
        }
        if (active !== tab.name) return;
        labels = null;
        compute();
      }
      // Which share of the trainings an image misleads that the first one's gradient has led to another label.
      function rate(grey) {
        if (!ready) return "";
        const start = core.scaled(grey), {u, norm} = core.attack(net, start);
        if (norm === Infinity) return "–";
        const step = core.moved(start, norm, u);
        return `${nets.filter(one => one.label(step) !== one.label(start)).length}/${TRAININGS}`;
      }
      return {...tab, update, rate, rated: () =>
        "Under each digit: how many trainings the smallest step along the gradient of training 1 misleads"};
    }

    // ---- choices -----------------------------------------------------------------------------------------
    const panels = [mixing(), shaking(), around(), comparing()];
    const tabs = panels.map((tab, k) => {
      tab.node.id = `${own}-panel-${k}`;
      tab.node.setAttribute("aria-labelledby", `${own}-tab-${k}`);
      return make("button", {type: "button", role: "tab", id: `${own}-tab-${k}`, "aria-controls": tab.node.id,
                             onclick: () => open(k), onkeydown: event => keys(event, k)}, tab.name);
    });

    function keys(event, k) {
      const next = {ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: tabs.length - 1}[event.key];
      if (next === undefined) return;
      event.preventDefault();
      const to = (next + tabs.length) % tabs.length;
      open(to);
      tabs[to].focus();
    }

    function open(k) {
      panels.forEach((tab, n) => {
        tab.node.hidden = n !== k;
        tabs[n].setAttribute("aria-selected", n === k);
        tabs[n].tabIndex = n === k ? 0 : -1;
        if (n !== k) tab.leave?.();
      });
      active = panels[k].name;
      begin();
      compare();
    }

    // Under each digit the number of the open panel, one digit after the other: the page stays at hand.
    let comparison;
    function compare() {
      const tab = panels.find(one => one.name === active);
      rated.textContent = tab.rated();
      ratings.forEach(one => { one.textContent = ""; });
      clearTimeout(comparison);
      const next = k => {
        ratings[k].textContent = tab.rate(greys[k]);
        if (k + 1 < greys.length) comparison = setTimeout(next, 0, k + 1);
      };
      comparison = setTimeout(next, 0, 0);
    }

    function choose(k) {
      digit = k;
      image = core.scaled(greys[k]);
      label = net.label(image);
      attack = core.attack(net, image);
    }

    // The open panel from its start, and no work for another one.
    function begin() {
      ["plane", "flips", "distances"].forEach(kind => ask(kind));
      [awaited, following] = [false, null];
      point = [Math.min(REACH, attack.norm), 0];
      panels.find(tab => tab.name === active).update();
    }

    const ratings = greys.map((_, k) => make("span", {class: "rating", id: `${own}-rating-${k}`}));
    const rated = make("p", {class: "rated"});
    const thumbs = greys.map((grey, k) => {
      const canvas = make("canvas", {"aria-hidden": "true"});
      draw(canvas, 28, p => Array(3).fill(grey[p]));
      return make("label", {}, make("input", {
        type: "radio", name: `${own}-digit`, checked: k === digit, "aria-describedby": ratings[k].id,
        "aria-label": `digit ${digits.labels[k]}, test image ${digits.numbers[k]}`,
        onchange() { choose(k); begin(); }}), canvas, ratings[k]);
    });
    const note = make("p", {class: "note"},
      `Network: architecture A of Ren et al., test accuracy ${(100 * file.accuracy).toFixed(1)}%. A norm is `
      + "the Euclidean (L2) length of what is added; pixels lie from 0 (black) to 1 (white), sums are cut. "
      + `Everything is computed in this browser. Digits: ${digits.licence}.`);
    const node = make("div", {class: "widget", role: "group", "aria-label": "Explorer"},
      make("fieldset", {class: "digits"}, make("legend", {}, "Choose a digit"), ...thumbs, rated),
      make("div", {role: "tablist", "aria-label": "What to try"}, ...tabs),
      ...panels.map(tab => tab.node), note);
    choose(digit);
    open(0);
    return node;
  }

  // ---- start ---------------------------------------------------------------------------------------------
  async function start(place) {
    try {
      const [core, digits, file] = await Promise.all([...["core", "digits", "weights-0"].map(load), style()]);
      place.append(explorer(core(), digits, file));
      place.classList.add("ready");
    } catch (error) {
      place.querySelector(".instead").textContent = `The explorer cannot start: ${error.message}.`;
    }
  }

  const seen = new IntersectionObserver(entries => entries.forEach(({isIntersecting, target}) => {
    if (!isIntersecting) return;
    seen.unobserve(target);
    start(target);
  }), {rootMargin: "200px"});
  document.querySelectorAll(".explorer").forEach(place => seen.observe(place));
})();
