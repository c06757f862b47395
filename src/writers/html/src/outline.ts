// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The measured curve as a line over filled shapes: what they show must end there.
import type uPlot from "uplot";
import { plain } from "./palette";
import type { scene } from "./scene";
import { stepped } from "./time_plot";

export function outline_series(scene: () => scene | null): uPlot.Series[] {
  // Half transparent: where the curve jumps often, the shapes are seen through it.
  const stroke = () => `${plain[scene()?.theme ?? "light"].text}80`;
  return [{ paths: stepped, width: 1, stroke, points: { show: false } }];
}

export function outline(scene: scene, count: number): (number | null)[][] {
  const who = scene.companions[scene.state.run];
  const { high } = scene.sample(who, scene.run.measure, count);
  return [high.map((bytes) => (bytes === null ? null : bytes - scene.base))];
}
