// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The live set at the chosen moment as a flame graph, outermost frames on top.
import flamegraph from "d3-flame-graph";
import { select } from "d3-selection";
import { timerFlush } from "d3-timer";
import { byte_text, count_text, many, share_text } from "./bytes";
import { type frame, type run, frames_of, site_of } from "./data";
import { element, panel, visible } from "./dom";
import { type live_row, type live_set, live_set_at, nearest_moment } from "./live_set";
import { css, pixel, plain } from "./palette";
import type { scene } from "./scene";
import type { store } from "./state";
import type { stack_panel } from "./stack_panel";
import { hide_tooltip, show_tooltip } from "./tooltip";

interface node {
  name: string;
  place: string;
  value: number;
  tensors: number;
  /** The site that all of it belongs to, from that site's frame on; else -1. */
  site: number;
  /** The first stack that came through here. */
  stack: number;
  children: node[];
  own: Map<string, node>;
}

const row_height = 18;
const frames_kept_above = 3;
const least_width = 3;

function make_node(name: string, place: string, stack: number): node {
  return { name, place, value: 0, tensors: 0, site: -1, stack, children: [], own: new Map() };
}

function place_of({ file, line }: frame): string {
  return line > 0 ? `${file}:${line}` : file;
}

function child_of(parent: node, key: string, make: () => node): node {
  let child = parent.own.get(key);
  if (child === undefined) {
    child = make();
    parent.own.set(key, child);
    parent.children.push(child);
  }
  return child;
}

function grow(node: node, bytes: number, tensors: number): void {
  node.value += bytes;
  node.tensors += tensors;
}

/** Adds a stack below the root; from its site's frame on, all belongs to that site. */
function add_stack(root: node, run: run, { stack, bytes, tensors }: live_row): void {
  const site = site_of(run, stack);
  const chosen = run.sites[site];
  let is_inside = false;
  let node = root;
  grow(node, bytes, tensors);
  for (const frame of frames_of(run, stack).reverse()) {
    is_inside ||= chosen !== undefined && frame.file === chosen.file && frame.line === chosen.line;
    const key = `${frame.function}\n${frame.file}\n${frame.line}\n${is_inside ? site : ""}`;
    node = child_of(node, key, () => make_node(frame.function, place_of(frame), stack));
    if (is_inside) node.site = site;
    grow(node, bytes, tensors);
  }
}

/** The tree of all stacks, without the frames at the top that all of them share. */
function make_tree(run: run, live: live_set): node {
  let top = make_node("", "", -1);
  const has_frames = ({ stack }: live_row) => run.first_frame[stack] < run.first_frame[stack + 1];
  for (const row of live.rows.filter(has_frames)) add_stack(top, run, row);
  let shared = 0;
  while (
    top.children.length === 1 &&
    top.children[0].children.length > 0 &&
    top.children[0].site < 0
  ) {
    top = top.children[0];
    ++shared;
  }
  const place = shared > 0 ? `without the ${shared} outermost frames, which all stacks share` : "";
  const root = { ...top, name: `live set: ${byte_text(live.bytes)}`, place, stack: -1 };
  for (const { stack, bytes, tensors } of live.rows.filter((row) => !has_frames(row))) {
    const site = site_of(run, stack);
    const node = child_of(root, `\n${site}`, () =>
      make_node(run.sites[site]?.site ?? "unknown stack", "", stack),
    );
    node.site = site;
    grow(node, bytes, tensors);
    grow(root, bytes, tensors);
  }
  if (live.rest.bytes > 0) {
    const rest = child_of(root, "\nrest", () => make_node("all other stacks", "", -1));
    grow(rest, live.rest.bytes, live.rest.tensors);
    grow(root, live.rest.bytes, live.rest.tensors);
  }
  return root;
}

/** How deep one must go until a good part of all bytes has come to its site. */
function depth_of_sites(root: node): number {
  let rest = [root];
  let reached = 0;
  for (let depth = 0; rest.length > 0; ++depth) {
    // Memory without a stack hangs at the top and says nothing of the others.
    const at_site = rest.filter(({ site, place }) => site >= 0 && place !== "");
    reached += at_site.reduce((sum, { value }) => sum + value, 0);
    if (reached >= root.value / 10) return depth;
    rest = rest.filter(({ site }) => site < 0).flatMap(({ children }) => children);
  }
  return 0;
}

/** Widest first. */
function sort(node: node): void {
  node.children.sort((a, b) => b.value - a.value);
  node.children.forEach(sort);
}

export class flame_view {
  readonly #body: HTMLElement;
  readonly #note: HTMLElement;
  readonly #graph = element("div", { class: "graph" });
  #scene: scene | null = null;
  #live: live_set | null = null;
  #shown = "";

  constructor(
    parent: HTMLElement,
    readonly store: store,
    readonly details: stack_panel,
  ) {
    const { root, body, note } = panel("flame", "Live set by stack");
    this.#body = body;
    this.#note = note;
    body.append(this.#graph);
    parent.append(root);
    new ResizeObserver(() => {
      if (this.#scene !== null && this.#graph.clientWidth > 0) this.update(this.#scene);
    }).observe(body);
  }

  update(scene: scene): void {
    this.#scene = scene;
    const moment = nearest_moment(scene.device, scene.event);
    const { run, device, site, query } = scene.state;
    const width = this.#body.clientWidth;
    const shown = JSON.stringify([run, device, moment, site, query, scene.theme, width]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#live = live_set_at(scene.device, moment);
    if (this.#live === null) {
      this.#note.textContent = "nothing is live";
      this.#graph.replaceChildren();
      return;
    }
    const { bytes, event } = this.#live;
    this.#note.textContent = `${byte_text(bytes)} \u00b7 ${scene.moment_text(event)}`;
    this.#draw(scene, this.#live, width);
  }

  #draw(scene: scene, live: live_set, width: number): void {
    const root = make_tree(scene.run, live);
    sort(root);
    const chart = flamegraph()
      .width(width)
      .cellHeight(row_height)
      .minFrameSize(least_width)
      .transitionDuration(0)
      .inverted(true)
      .selfValue(false)
      .tooltip(this.#tooltip())
      .getName(({ data }: { data: node }) => visible(data.name))
      .setColorMapper(({ data }: { data: node }) => this.#colour(scene, data))
      .onClick(({ data }: { data: node }) => this.#click(data));
    this.#graph.replaceChildren();
    select(this.#graph)
      .datum(root as any)
      .call(chart as any);
    // The library sets widths and names in transitions, even of no duration: start, run, end.
    for (let i = 0; i < 3; ++i) timerFlush();
    // Interpreters put dozens of frames above the first that says something.
    const above = Math.max(0, depth_of_sites(root) - frames_kept_above);
    this.#body.scrollTop = above * row_height;
  }

  /** Frames above a site belong to many, so they have no colour of their own. */
  #colour(scene: scene, { site, children }: node): string {
    const { frame, background } = plain[scene.theme];
    const is_other = site < 0 ? children.length === 0 : !scene.is_asked_for(site);
    if (scene.searching && is_other) return css(pixel(frame, background, 0.35));
    return site < 0 ? frame : scene.colour(site);
  }

  /** The library calls it with a selection, and its two members. */
  #tooltip(): object {
    return Object.assign(() => undefined, {
      show: (mouse: MouseEvent, { data }: { data: node }) => this.#point(mouse, data),
      hide: hide_tooltip,
    });
  }

  #point(mouse: MouseEvent, node: node): void {
    const scene = this.#scene!;
    const site = scene.run.sites[node.site];
    show_tooltip(
      mouse,
      node.name,
      [
        node.place,
        `${byte_text(node.value)}, ${share_text(node.value, this.#live!.bytes)}`,
        many(node.tensors, "tensor"),
        site === undefined ? "" : `site ${site.site}`,
      ],
      site === undefined ? undefined : scene.colour(node.site),
    );
  }

  #click({ site, stack, value, tensors }: node): void {
    if (stack < 0) return;
    const scene = this.#scene!;
    const chosen = site < 0 ? site_of(scene.run, stack) : site;
    this.details.show(scene, {
      site: chosen,
      stack,
      facts: [
        ["live", byte_text(value)],
        ["tensors", count_text(tensors)],
      ],
    });
  }
}
