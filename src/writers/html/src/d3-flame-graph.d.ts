// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The package has no types of its own; its chart is a chain of setters.
declare module "d3-flame-graph" {
  export default function flamegraph(): any;
}
