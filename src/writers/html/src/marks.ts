// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Marks over the curve: steps, annotations, peaks and OOMs, with names where there is room.
import type uPlot from "uplot";
import { byte_text } from "./bytes";
import type { annotation, device } from "./data";
import { visible } from "./dom";
import { pixel, plain, css } from "./palette";
import type { scene } from "./scene";

const most_lanes = 2;
const lane_height = 12;
const step_row = 14;
/** Narrower ones would be a grey mass. */
const least_step_width = 4;
const font = "10px system-ui, sans-serif";

/** Room above the plot for what any device has to show there. */
export function room_above(devices: device[]): number {
  const steps = devices.some((device) => device.steps.length > 0) ? step_row : 0;
  const rows = Math.max(
    0,
    ...devices.map((device) => Math.max(-1, ...lanes_of(device).values()) + 1),
  );
  return 8 + steps + rows * lane_height;
}

interface span {
  left: number;
  width: number;
}

function span_of(plot: uPlot, scene: scene, first: number, last: number): span | null {
  const from = Math.max(scene.from, scene.axis.x_of(first));
  const to = Math.min(scene.to, scene.axis.x_of(last));
  if (to < from) return null;
  const left = plot.valToPos(from, "x", true);
  return { left, width: plot.valToPos(to, "x", true) - left };
}

/** The text, or as much of it as fits, or nothing. */
function label(ctx: CanvasRenderingContext2D, text: string, { left, width }: span, y: number) {
  const room = width - 6;
  let shown = visible(text);
  if (room < 8) return;
  if (ctx.measureText(shown).width > room) {
    while (shown.length > 1 && ctx.measureText(`${shown}\u2026`).width > room) {
      shown = shown.slice(0, Math.floor(shown.length * 0.8));
    }
    if (shown.length < 3) return;
    shown += "\u2026";
  }
  ctx.fillText(shown, left + 3, y);
}

function begin(plot: uPlot): CanvasRenderingContext2D {
  const { ctx } = plot;
  ctx.save();
  ctx.font = font.replace("10px", `${10 * devicePixelRatio}px`);
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  return ctx;
}

/** Every second step on a shade of its own. */
export function draw_step_shades(plot: uPlot, scene: scene): void {
  const { bbox } = plot;
  const ctx = begin(plot);
  ctx.fillStyle = plain[scene.theme].band;
  scene.device.steps.forEach(({ first_event, last_event }, index) => {
    const span = span_of(plot, scene, first_event, last_event + 1);
    if (span === null || span.width < least_step_width || index % 2 === 1) return;
    ctx.fillRect(span.left, bbox.top, span.width, bbox.height);
  });
  ctx.restore();
}

function draw_steps(plot: uPlot, scene: scene, ctx: CanvasRenderingContext2D): void {
  const ratio = devicePixelRatio;
  const colours = plain[scene.theme];
  const top = plot.bbox.top - step_row * ratio;
  ctx.strokeStyle = colours.faint;
  for (const { first_event, last_event, name, number, complete } of scene.device.steps) {
    const span = span_of(plot, scene, first_event, last_event + 1);
    if (span === null || span.width < least_step_width) continue;
    ctx.beginPath();
    ctx.moveTo(Math.round(span.left) + 0.5, top + 3);
    ctx.lineTo(Math.round(span.left) + 0.5, plot.bbox.top);
    ctx.stroke();
    ctx.fillStyle = colours.faint;
    const text = (name || `step ${number}`) + (complete ? "" : " (cut)");
    const fits = ctx.measureText(text).width < span.width - 6;
    label(ctx, fits ? text : `#${number}`, span, top + (step_row / 2) * ratio);
  }
}

const lane_of = new WeakMap<device, Map<annotation, number>>();

/** Rows so that none overlaps another; what finds no row is left out. */
function lanes_of(device: device): Map<annotation, number> {
  let found = lane_of.get(device);
  if (found === undefined) {
    found = new Map();
    const ends = new Array<number>(most_lanes).fill(-1);
    const rows = [...device.annotations].sort(
      (a, b) => a.first_event - b.first_event || b.last_event - a.last_event,
    );
    for (const row of rows) {
      const lane = ends.findIndex((end) => end <= row.first_event);
      if (lane < 0) continue;
      ends[lane] = row.last_event;
      found.set(row, lane);
    }
    lane_of.set(device, found);
  }
  return found;
}

function draw_annotations(plot: uPlot, scene: scene, ctx: CanvasRenderingContext2D): void {
  const ratio = devicePixelRatio;
  const colours = plain[scene.theme];
  const steps = scene.device.steps.length > 0 ? step_row : 0;
  const bottom = plot.bbox.top - (steps + 2) * ratio;
  const fill = css(pixel(colours.rest, colours.background, 0.4));
  for (const [row, lane] of lanes_of(scene.device)) {
    const span = span_of(plot, scene, row.first_event, row.last_event);
    if (span === null) continue;
    const y = bottom - (lane + 1) * lane_height * ratio;
    ctx.fillStyle = fill;
    ctx.fillRect(span.left, y, Math.max(1, span.width - 1), (lane_height - 2) * ratio);
    ctx.fillStyle = colours.text;
    label(ctx, row.name, span, y + ((lane_height - 2) / 2) * ratio);
  }
}

/** Numbers where there is room, the largest peaks first; else dots, which lie below them. */
function draw_peaks(plot: uPlot, scene: scene, ctx: CanvasRenderingContext2D): void {
  const ratio = devicePixelRatio;
  const colours = plain[scene.theme];
  const { bbox } = plot;
  const seen = scene.device.peaks
    .map((peak, index) => ({
      text: String(index + 1),
      x: scene.axis.x_of(peak.event),
      left: plot.valToPos(scene.axis.x_of(peak.event), "x", true),
      top: plot.valToPos(peak.bytes - scene.base, "y", true),
      global: peak.global,
    }))
    .filter(({ x, top }) => x >= scene.from && x <= scene.to && top <= bbox.top + bbox.height);
  const numbered: typeof seen = [];
  for (const peak of seen) {
    const is_free = numbered.every(({ left }) => Math.abs(left - peak.left) > 18 * ratio);
    if (is_free) numbered.push(peak);
  }
  const dots = seen.filter((peak) => !numbered.includes(peak));
  ctx.textAlign = "center";
  ctx.strokeStyle = colours.accent;
  for (const { text, left, top, global } of [...dots, ...numbered.reverse()]) {
    const is_dot = dots.some((dot) => dot.text === text);
    ctx.beginPath();
    ctx.arc(left, top, (is_dot ? 2.5 : 7) * ratio, 0, 2 * Math.PI);
    ctx.fillStyle = global ? colours.accent : colours.background;
    ctx.fill();
    ctx.stroke();
    ctx.fillStyle = global ? colours.background : colours.text;
    if (!is_dot) ctx.fillText(text, left, top + 0.5 * ratio);
  }
  ctx.textAlign = "left";
}

function draw_ooms(plot: uPlot, scene: scene, ctx: CanvasRenderingContext2D): void {
  const ratio = devicePixelRatio;
  const { bbox } = plot;
  let free_from = -Infinity;
  ctx.strokeStyle = ctx.fillStyle = plain[scene.theme].alarm;
  ctx.lineWidth = 1.5 * ratio;
  for (const { event, requested_bytes } of scene.device.ooms) {
    const x = scene.axis.x_of(event);
    if (x < scene.from || x > scene.to) continue;
    const left = plot.valToPos(x, "x", true);
    ctx.beginPath();
    ctx.moveTo(left, bbox.top);
    ctx.lineTo(left, bbox.top + bbox.height);
    ctx.stroke();
    const text = `OOM ${byte_text(requested_bytes)}`;
    const width = ctx.measureText(text).width;
    const at = left + width + 6 > bbox.left + bbox.width ? left - width - 4 : left + 4;
    if (at < free_from) continue;
    ctx.fillText(text, at, bbox.top + bbox.height - 8 * ratio);
    free_from = at + width + 6;
  }
}

export function draw_marks(plot: uPlot, scene: scene): void {
  const ctx = begin(plot);
  draw_steps(plot, scene, ctx);
  draw_annotations(plot, scene, ctx);
  draw_ooms(plot, scene, ctx);
  draw_peaks(plot, scene, ctx);
  ctx.restore();
}

/** The peaks and OOMs at the pointer's event, or within reach of it (in pixels of the canvas). */
export function mark_at(plot: uPlot, scene: scene, at: { event: number; left: number }): string[] {
  const reach = 6 * devicePixelRatio;
  const is_near = (event: number) => {
    const x = scene.axis.x_of(event);
    if (x < scene.from || x > scene.to) return false;
    const away = Math.abs(plot.valToPos(x, "x", true) - plot.bbox.left - at.left);
    return event === at.event || away <= reach;
  };
  const lines: string[] = [];
  scene.device.ooms
    .filter(({ event }) => is_near(event))
    .forEach((oom) => {
      lines.push(
        `OOM: ${byte_text(oom.requested_bytes)} requested, ` +
          `${byte_text(oom.device_free_bytes)} free on the device, at ${oom.site}`,
      );
    });
  scene.device.peaks.forEach((peak, index) => {
    if (!is_near(peak.event)) return;
    lines.push(
      `Peak ${index + 1}${peak.global ? " (global)" : ""}: ${byte_text(peak.bytes)}, ` +
        `${scene.moment_text(peak.event)}${peak.within === "" ? "" : `, in ${peak.within}`}`,
    );
  });
  return lines;
}
