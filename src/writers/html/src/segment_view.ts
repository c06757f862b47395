// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The segments as strips of memory, by address, broken into lines like text.
import { byte_text, digits_text, many } from "./bytes";
import { type segment, type segment_map, site_of } from "./data";
import { element, panel } from "./dom";
import { pixel, plain } from "./palette";
import { raster } from "./raster";
import type { scene } from "./scene";
import type { stack_panel } from "./stack_panel";
import type { store } from "./state";
import { hide_tooltip, show_tooltip } from "./tooltip";

const line_height = 16;
const line_gap = 5;
/** Lines that the page would like to use; many small segments take more. */
const wanted_lines = 12;
const segment_gap = 2;
const least_width = 2;
const states = ["free", "allocated", "free, waiting for a stream", "mixed: small blocks together"];

export class segment_view {
  readonly root: HTMLElement;
  readonly #canvas = element("canvas", { role: "img", "aria-label": "Segments and their blocks" });
  readonly #body: HTMLElement;
  readonly #note: HTMLElement;
  #scene: scene | null = null;
  #raster = new raster(1, 1);
  #shown = "";
  /** Segment of each block. */
  #segment_of = new Uint32Array();

  constructor(
    parent: HTMLElement,
    readonly store: store,
    readonly details: stack_panel,
  ) {
    const { root, head, body, note } = panel("segments", "Segment map");
    this.root = root;
    this.#body = body;
    this.#note = note;
    head.append(this.#legend());
    body.append(this.#canvas);
    parent.append(root);
    this.#canvas.addEventListener("mousemove", (mouse) => this.#point(mouse));
    this.#canvas.addEventListener("mouseleave", hide_tooltip);
    this.#canvas.addEventListener("click", (mouse) => this.#click(mouse));
    new ResizeObserver(() => this.#scene && this.update(this.#scene)).observe(body);
  }

  #legend(): HTMLElement {
    const entry = (name: string, text: string) =>
      element("span", { class: "entry" }, element("i", { class: `swatch ${name}` }), text);
    return element(
      "div",
      { class: "legend" },
      element("span", { class: "entry" }, "allocated: the site's colour"),
      entry("free", "free"),
      entry("pending", "waiting for a stream"),
      entry("mixed", "small blocks together"),
    );
  }

  update(scene: scene): void {
    this.#scene = scene;
    const { run, device, site, query } = scene.state;
    const shown = JSON.stringify([
      run,
      device,
      site,
      query,
      scene.theme,
      scene.state.axis,
      this.#body.clientWidth,
      devicePixelRatio,
    ]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const { map } = scene.device;
    this.#canvas.hidden = map === null;
    if (map === null) {
      this.#note.textContent = "the file tells nothing of segments";
      return;
    }
    const total = map.segments.reduce((sum, { bytes }) => sum + bytes, 0);
    const place = map.is_oom ? `at the OOM, ${scene.moment_text(map.event)}` : "at the end";
    const unplaced = map.unplaced_bytes > 0 ? `, ${byte_text(map.unplaced_bytes)} not placed` : "";
    this.#note.textContent =
      `${place}: ${many(map.segments.length, "segment")}, ${byte_text(total)}` +
      `${unplaced}${map.exact ? "" : ` (${map.reason})`}`;
    this.#paint(scene, map, total);
  }

  #paint(scene: scene, map: segment_map, total: number): void {
    const ratio = devicePixelRatio;
    const width = Math.floor(this.#body.clientWidth * ratio);
    if (width < 10) return;
    const gaps = map.segments.length * segment_gap;
    const room = Math.max(width, wanted_lines * width - gaps);
    const scale = total > 0 ? room / total : 0;
    const widths = map.segments.map(({ bytes }) =>
      Math.max(least_width, Math.round(bytes * scale)),
    );
    const length = widths.reduce((sum, part) => sum + part, gaps);
    const line = Math.round((line_height + line_gap) * ratio);
    const lines = Math.max(1, Math.ceil(length / width));
    const thick = Math.round(line_height * ratio);
    this.#raster = new raster(width, lines * line);
    this.#raster.clear();
    this.#segment_of = new Uint32Array(map.block_bytes.length);
    // [from, to) of the strip, as rectangles of as many lines as it crosses.
    const fill = (from: number, to: number, pixel: number, owner: number) => {
      while (from < to) {
        const row = Math.floor(from / width);
        const until = Math.min(to, (row + 1) * width);
        this.#raster.fill(
          from - row * width,
          until - row * width,
          row * line,
          row * line + thick,
          pixel,
          owner,
        );
        from = until;
      }
    };
    let begin = 0;
    map.segments.forEach((segment, index) => {
      const per_byte = segment.bytes > 0 ? widths[index] / segment.bytes : 0;
      const place = (offset: number) => begin + Math.round(offset * per_byte);
      for (let i = 0; i < segment.blocks; ++i) {
        const block = segment.first_block + i;
        this.#segment_of[block] = index;
        const offset = map.block_offset[block];
        fill(
          place(offset),
          place(offset + map.block_bytes[block]),
          this.#block_pixel(scene, map, block),
          block,
        );
      }
      begin += widths[index] + segment_gap;
    });
    this.#canvas.width = width;
    this.#canvas.height = lines * line;
    this.#canvas.style.width = `${width / ratio}px`;
    this.#canvas.style.height = `${(lines * line) / ratio}px`;
    this.#raster.draw(this.#canvas.getContext("2d")!, 0, 0);
  }

  #block_pixel(scene: scene, map: segment_map, block: number): number {
    const colours = plain[scene.theme];
    switch (map.block_state[block]) {
      case 0:
        return pixel(colours.free);
      case 2:
        return scene.pixel_of(colours.pending, !scene.searching);
      case 3:
        return scene.pixel_of(colours.mixed, !scene.searching);
      default:
        return scene.site_pixel(site_of(scene.run, map.block_stack[block]));
    }
  }

  #block_under(mouse: MouseEvent): number {
    const { left, top } = this.#canvas.getBoundingClientRect();
    return this.#raster.owner_at(
      (mouse.clientX - left) * devicePixelRatio,
      (mouse.clientY - top) * devicePixelRatio,
    );
  }

  #facts(map: segment_map, block: number): [string, string][] {
    const segment = map.segments[this.#segment_of[block]];
    const requested = map.block_requested[block];
    const facts: [string, string][] = [
      ["block", `${byte_text(map.block_bytes[block])}, ${states[map.block_state[block]]}`],
    ];
    if (map.block_state[block] === 1) facts.push(["requested", byte_text(requested)]);
    facts.push(["segment", segment_text(segment)], ["offset", byte_text(map.block_offset[block])]);
    return facts;
  }

  #point(mouse: MouseEvent): void {
    const block = this.#block_under(mouse);
    const map = this.#scene?.device.map ?? null;
    if (block < 0 || map === null) return hide_tooltip();
    const scene = this.#scene!;
    const site = site_of(scene.run, map.block_stack[block]);
    const is_used = map.block_state[block] === 1;
    show_tooltip(
      mouse,
      is_used ? (scene.run.sites[site]?.site ?? "unknown stack") : states[map.block_state[block]],
      this.#facts(map, block).map(([key, text]) => `${key}: ${text}`),
      is_used ? scene.colour(site) : undefined,
    );
  }

  #click(mouse: MouseEvent): void {
    const block = this.#block_under(mouse);
    const map = this.#scene?.device.map ?? null;
    if (block < 0 || map === null) return;
    const scene = this.#scene!;
    const stack = map.block_stack[block];
    this.details.show(scene, {
      site: site_of(scene.run, stack),
      stack,
      facts: [...this.#facts(map, block), ["exactly", digits_text(map.block_bytes[block])]],
    });
  }
}

function segment_text(segment: segment): string {
  const kind = segment.expandable ? "expandable" : segment.small ? "small" : "large";
  return (
    `${segment.address}, ${byte_text(segment.bytes)}, ${kind}, stream ${segment.stream}` +
    (segment.pool[0] === 0 && segment.pool[1] === 0
      ? ""
      : `, pool ${segment.pool[0]}.${segment.pool[1]}`)
  );
}
