// What the explorer computes: networks, similarities, searches, planes. It runs on the page and in a worker,
// which gets the text of this one function.
"use strict";
var EXPLORER = EXPLORER || {};

EXPLORER.core = () => {
  const SIDE = 28, PIXELS = SIDE * SIDE;
  const STEP = 0.28, TOP = 13.44;     // of norms: RMS 0.01 and 0.48, as the line search of He et al.
  const NORMS = Math.round(TOP / STEP);
  const FINE = 4;                     // parts of a step along the gradient

  // ---- files ---------------------------------------------------------------------------------------------
  function bytes(text, adler32) {
    const out = Uint8Array.from(atob(text), c => c.charCodeAt(0));
    let a = 1, b = 0;
    for (const byte of out) b = (b + (a = (a + byte) % 65521)) % 65521;
    if (b * 65536 + a !== adler32) throw Error("is damaged");
    return out;
  }

  function half(bits) {       // a finite float16
    const exponent = bits >> 10 & 31, fraction = (bits & 1023) / 1024;
    return (bits >> 15 ? -1 : 1) * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
  }

  // The images as grey values of 0 to 255, an array each.
  function digits({images, adler32, labels}) {
    const grey = bytes(images, adler32);
    return labels.map((_, k) => Float64Array.from(grey.subarray(k * PIXELS, (k + 1) * PIXELS)));
  }

  // ---- networks ------------------------------------------------------------------------------------------
  // A layer knows the shape [channels, height, width] of what it gives; `back` takes the gradient by that to
  // the gradient by what the last `forward` was given. Both overwrite what they returned before.
  const LAYERS = {
    centre({mean}, shape) {
      const out = new Float64Array(PIXELS), slope = new Float64Array(PIXELS);
      return {
        shape,
        forward(x) { for (let p = 0; p < PIXELS; p++) out[p] = 255 * x[p] - mean; return out; },
        back(g) { for (let p = 0; p < PIXELS; p++) slope[p] = 255 * g[p]; return slope; },
      };
    },
    // 3 x 3, unpadded. An odd row or column at the end is not computed: the pool that follows leaves it out.
    conv({shape: [filters]}, [channels, h, w], take) {
      const weight = take(filters * channels * 9), bias = take(filters);
      const rows = h - 2 & ~1, columns = w - 2 & ~1;
      const out = new Float64Array(filters * rows * columns), slope = new Float64Array(channels * h * w);
      return {
        shape: [filters, rows, columns],
        forward(x) {
          for (let f = 0, k = 0; f < filters; f++) {
            const start = f * rows * columns;
            out.fill(bias[f], start, start + rows * columns);
            for (let c = 0; c < channels; c++, k += 9) {
              const w0 = weight[k], w1 = weight[k + 1], w2 = weight[k + 2];
              const w3 = weight[k + 3], w4 = weight[k + 4], w5 = weight[k + 5];
              const w6 = weight[k + 6], w7 = weight[k + 7], w8 = weight[k + 8];
              for (let y = 0, q = start; y < rows; y++) {
                let p = (c * h + y) * w, r = p + w, s = r + w;
                let a = x[p++], b = x[p++], d = x[r++], e = x[r++], i = x[s++], j = x[s++];     // a window
                for (const end = q + columns; q < end; q++) {
                  const g = x[p++], l = x[r++], m = x[s++];
                  out[q] += (w0 * a + w1 * b + w2 * g) + (w3 * d + w4 * e + w5 * l)
                    + (w6 * i + w7 * j + w8 * m);
                  a = b; b = g; d = e; e = l; i = j; j = m;
                }
              }
            }
          }
          return out;
        },
        back(g) {
          slope.fill(0);
          for (let f = 0; f < filters; f++) for (let c = 0; c < channels; c++) for (let t = 0; t < 9; t++) {
            const value = weight[9 * (f * channels + c) + t];
            for (let y = 0; y < rows; y++) {
              const from = (f * rows + y) * columns, to = (c * h + y + Math.floor(t / 3)) * w + t % 3;
              for (let x = 0; x < columns; x++) slope[to + x] += value * g[from + x];
            }
          }
          return slope;
        },
      };
    },
    relu(_, shape) {
      let seen;
      return {
        shape,
        forward(x) { for (let p = 0; p < x.length; p++) if (x[p] < 0) x[p] = 0; return seen = x; },
        back(g) { for (let p = 0; p < g.length; p++) if (seen[p] === 0) g[p] = 0; return g; },
      };
    },
    norm({mean, variance, eps}, shape, take) {
      const size = shape[1] * shape[2];
      const out = new Float64Array(shape[0] * size), slope = new Float64Array(out.length);
      const scale = take(shape[0]).map((weight, c) => weight / Math.sqrt(variance[c] + eps));
      const shift = take(shape[0]).map((bias, c) => bias - mean[c] * scale[c]);
      return {
        shape,
        forward(x) {
          for (let c = 0, p = 0; c < shape[0]; c++) {
            for (const end = p + size; p < end; p++) out[p] = x[p] * scale[c] + shift[c];
          }
          return out;
        },
        back(g) {
          for (let c = 0, p = 0; c < shape[0]; c++) {
            for (const end = p + size; p < end; p++) slope[p] = g[p] * scale[c];
          }
          return slope;
        },
      };
    },
    pool(_, [channels, h, w]) {     // 2 x 2
      const rows = h / 2, columns = w / 2, out = new Float64Array(channels * rows * columns);
      const place = new Int32Array(out.length), slope = new Float64Array(channels * h * w);
      return {
        shape: [channels, rows, columns],
        forward(x) {
          for (let row = 0, q = 0; row < channels * rows; row++) {
            for (let p = 2 * row * w, end = p + w; p < end; p += 2, q++) {
              let best = p;
              if (x[p + 1] > x[best]) best = p + 1;
              if (x[p + w] > x[best]) best = p + w;
              if (x[p + w + 1] > x[best]) best = p + w + 1;
              place[q] = best;
              out[q] = x[best];
            }
          }
          return out;
        },
        back(g) {
          slope.fill(0);
          for (let q = 0; q < out.length; q++) slope[place[q]] += g[q];
          return slope;
        },
      };
    },
    full({shape: [n, m]}, _, take) {
      const weight = take(n * m), bias = take(n), out = new Float64Array(n), slope = new Float64Array(m);
      return {
        shape: [n, 1, 1],
        forward(x) {
          for (let i = 0, p = 0, q = m; i < n; i += 2, p += m, q += m) {     // two even rows at a time
            let a = bias[i], b = 0, c = bias[i + 1], d = 0;
            for (let j = 0; j < m; j += 2, p += 2, q += 2) {
              const even = x[j], odd = x[j + 1];
              a += weight[p] * even;
              b += weight[p + 1] * odd;
              c += weight[q] * even;
              d += weight[q + 1] * odd;
            }
            out[i] = a + b;
            out[i + 1] = c + d;
          }
          return out;
        },
        back(g) {
          slope.fill(0);
          for (let i = 0, p = 0; i < n; i++) for (let j = 0; j < m; j++, p++) slope[j] += weight[p] * g[i];
          return slope;
        },
      };
    },
  };

  function largest(values) {
    let best = 0;
    for (let k = 1; k < values.length; k++) if (values[k] > values[best]) best = k;
    return best;
  }

  // A network of its file: `logits`, `label` and `direction` of an image in [0, 1].
  function network({layers, weights, adler32}) {
    const packed = bytes(weights, adler32);
    let at = 0, shape = [1, SIDE, SIDE];
    const take = n => Float64Array.from({length: n}, () => half(packed[at++] | packed[at++] << 8));
    const parts = layers.map(layer => {
      const part = LAYERS[layer.kind](layer, shape, take);
      shape = part.shape;
      return part;
    });
    const forward = image => parts.reduce((x, part) => part.forward(x), image);
    return {
      logits: image => forward(image).slice(),
      label: image => largest(forward(image)),
      // The unit vector along the gradient of the cross-entropy of the label.
      direction(image) {
        const logits = forward(image).slice(), label = largest(logits);
        const slope = logits.map(z => Math.exp(z - logits[label])), sum = slope.reduce((a, b) => a + b);
        slope[label] = 0;
        slope[label] = -slope.reduce((a, b) => a + b);      // no difference of two numbers near 1
        return unit(parts.reduceRight((g, part) => part.back(g), slope.map(v => v / sum)));
      },
    };
  }

  // ---- vectors -------------------------------------------------------------------------------------------
  const dot = (a, b) => a.reduce((sum, value, p) => sum + value * b[p], 0);

  function unit(vector) {
    const norm = Math.sqrt(dot(vector, vector));
    return vector.map(value => value / norm);
  }

  // Uniformly drawn unit vectors; the same for the same seed.
  function directions(count, seed) {
    let state = seed;
    const uniform = () => {     // Mulberry32
      state = state + 0x6D2B79F5 | 0;
      let t = Math.imul(state ^ state >>> 15, 1 | state);
      t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
      return ((t ^ t >>> 14) >>> 0) / 2 ** 32;
    };
    const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
    return Array.from({length: count}, () => unit(Float64Array.from({length: PIXELS}, normal)));
  }

  const without = (vector, u) => {
    const along = dot(vector, u);
    return unit(vector.map((value, p) => value - along * u[p]));
  };

  // A random unit vector at right angles to u, turned by an angle in a plane that is at right angles to u.
  function across(u, seed, angle) {
    const [a, b] = directions(2, seed), first = without(a, u), second = without(without(b, u), first);
    return first.map((value, p) => Math.cos(angle) * value + Math.sin(angle) * second[p]);
  }

  // image + s u + t v, cut to [0, 1], in `out`.
  function moved(image, s, u, t = 0, v = u, out = new Float64Array(PIXELS)) {
    for (let p = 0; p < PIXELS; p++) {
      const value = image[p] + s * u[p] + t * v[p];
      out[p] = value < 0 ? 0 : value > 1 ? 1 : value;
    }
    return out;
  }

  // ---- similarity, mixing --------------------------------------------------------------------------------
  const WINDOW = Array.from({length: 11}, (_, k) => Math.exp(-((k - 5) ** 2) / 4.5));
  const TOTAL = WINDOW.reduce((a, b) => a + b);
  const inside = place => Math.min(SIDE - 1, Math.max(0, place));

  function smooth(map) {
    for (const [along, beside] of [[1, SIDE], [SIDE, 1]]) {
      const out = new Float64Array(PIXELS);
      for (let row = 0; row < SIDE; row++) for (let i = 0; i < SIDE; i++) for (let k = 0; k < 11; k++)
        out[row * beside + i * along] += WINDOW[k] / TOTAL * map[row * beside + inside(i + k - 5) * along];
      map = out;
    }
    return map;
  }

  // SSIM of two images of 0 to 255 by MATLAB's convention, as shared/similarity.py.
  function ssim(x, y) {
    const product = (a, b) => a.map((value, p) => value * b[p]);
    const [mx, my, xx, yy, xy] = [x, y, product(x, x), product(y, y), product(x, y)].map(smooth);
    const c1 = (0.01 * 255) ** 2, c2 = (0.03 * 255) ** 2;
    let sum = 0;
    for (let p = 0; p < PIXELS; p++) {
      const squares = mx[p] ** 2 + my[p] ** 2, both = mx[p] * my[p];
      sum += (2 * both + c1) * (2 * (xy[p] - both) + c2) / ((squares + c1) * (xx[p] + yy[p] - squares + c2));
    }
    return sum / PIXELS;
  }

  const scaled = grey => grey.map(value => value / 255);
  const mix = (a, b) => a.map((value, p) => Math.min(255, Math.ceil(value / 2) + Math.ceil(b[p] / 2)));

  // Algorithm 1 of Ren et al. from a digit towards a uniform grey value; no steps where both have one label.
  function search(net, digit, grey, threshold, most) {
    let last = digit, first = new Float64Array(PIXELS).fill(grey);
    let near = 0, far = 1;      // their shares of grey, before rounding
    const label = net.label(scaled(digit)), background = net.label(scaled(first)), steps = [];
    let other = background;
    while (label !== other && steps.length < most && !(steps.length && steps.at(-1).similarity > threshold)) {
      const image = mix(first, last), halfway = (near + far) / 2;
      const now = net.label(scaled(image)), keeps = now === label;
      if (keeps) [last, near] = [image, halfway];
      else [first, far, other] = [image, halfway, now];
      steps.push({image, label: now, keeps, similarity: ssim(first, last), near, far, last, first, other});
    }
    return {label, background, other, steps, reach: ssim(last, digit)};
  }

  // ---- around an image -----------------------------------------------------------------------------------
  // The norm at which the label first changes in a direction, or Infinity; by steps.
  function crossing(net, image, direction, step, buffer) {
    const label = net.label(image);
    for (let n = 1; n * step < TOP + step / 2; n++)
      if (net.label(moved(image, n * step, direction, 0, direction, buffer)) !== label) return n * step;
    return Infinity;
  }

  const attack = (net, image) => {
    const u = net.direction(image);
    return {u, norm: crossing(net, image, u, STEP / FINE)};
  };

  // Jobs yield often, with what there is to show or nothing.
  const JOBS = {
    // Labels by each network of the points of a plane, a row a t from the top: every sixth, every third, all.
    * plane(nets, {image, u, v, of, size, reach}) {
      const labels = of.map(() => new Uint8Array(size * size)), buffer = new Float64Array(PIXELS);
      const place = k => reach * (2 * k / (size - 1) - 1);
      let before = 0;
      for (const stride of [6, 3, 1]) {
        for (let row = 0; row < size; row += stride) {
          for (let column = 0; column < size; column += stride) {
            if (before && row % before === 0 && column % before === 0) continue;
            moved(image, place(column), u, -place(row), v, buffer);
            of.forEach((n, k) => { labels[k][row * size + column] = nets[n].label(buffer); });
          }
          yield;
        }
        yield {labels: labels.map(l => l.slice()), stride};
        before = stride;
      }
    },
    // The norms at which random directions first change the label.
    * distances([net], {image, count, seed}) {
      const buffer = new Float64Array(PIXELS), norms = [];
      for (const direction of directions(count, seed)) {
        norms.push(crossing(net, image, direction, STEP, buffer));
        yield norms.length % 10 ? undefined : {norms: norms.slice()};
      }
    },
    // How many noise samples of some norms (in steps) change the label.
    * flips([net], {image, steps, count, seed}) {
      const samples = directions(count, seed), label = net.label(image), buffer = new Float64Array(PIXELS);
      for (const n of steps) {
        let flips = 0;
        for (const noise of samples) {
          flips += net.label(moved(image, n * STEP, noise, 0, noise, buffer)) !== label;
        }
        yield {step: n, flips};
      }
    },
  };

  // A function of messages that runs jobs in slices; a later one of a kind ends the one before, even if empty.
  function serve(send) {
    const nets = [], latest = {};
    return async ({kind, id, place, file, ...job}) => {
      if (kind === "network") {
        nets[place] = network(file);
        return;
      }
      latest[kind] = id;
      if (!job.image) return;
      let start = performance.now();
      for (const part of JOBS[kind](nets, job)) {
        if (part) send({kind, id, part});
        if (performance.now() - start < 40) continue;
        await new Promise(next => setTimeout(next));
        if (latest[kind] !== id) return;
        start = performance.now();
      }
      send({kind, id, done: true});
    };
  }

  return {STEP, TOP, NORMS, digits, network, directions, across, moved, scaled, ssim, search, crossing, attack,
    JOBS, serve};
};
