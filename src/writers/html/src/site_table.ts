// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The live set by site as a table that sorts, and that the search filters.
import {
  FormatModule,
  InteractionModule,
  ResizeTableModule,
  SortModule,
  Tabulator,
  FilterModule,
} from "tabulator-tables";
import { byte_text, count_text, many, share_text } from "./bytes";
import { element, foreign, panel, visible } from "./dom";
import { by_site, live_set_at, nearest_moment } from "./live_set";
import type { scene } from "./scene";
import type { store } from "./state";

Tabulator.registerModule([
  FormatModule,
  InteractionModule,
  ResizeTableModule,
  SortModule,
  FilterModule,
]);

interface row {
  id: number;
  site: string;
  label: string;
  bytes: number;
  share: number;
  tensors: number;
  peak_bytes: number;
}

/** The row of what the program summed up. */
const rest_id = -2;

export class site_table {
  readonly #table: Tabulator;
  readonly #note: HTMLElement;
  readonly #place = element("div", { class: "table" });
  readonly #ready: Promise<void>;
  #scene: scene | null = null;
  #shown = "";
  #width = 0;

  constructor(
    parent: HTMLElement,
    readonly store: store,
  ) {
    const { root, body, note } = panel("sites", "Live set by site");
    this.#note = note;
    parent.append(root);
    body.append(this.#place);
    const bytes = (cell: { getValue(): number }) => byte_text(cell.getValue());
    const right = { hozAlign: "right" as const, headerHozAlign: "right" as const };
    const largest_first = { sorter: "number" as const, headerSortStartingDir: "desc" as const };
    this.#table = new Tabulator(this.#place, {
      height: "100%",
      layout: "fitColumns",
      index: "id",
      placeholder: "nothing is live, or no site matches",
      initialSort: [{ column: "bytes", dir: "desc" }],
      columns: [
        {
          title: "site",
          field: "site",
          sorter: "string",
          minWidth: 100,
          widthGrow: 3,
          formatter: (cell) => this.#site_cell(cell.getData() as row),
        },
        { title: "now", field: "bytes", width: 84, formatter: bytes, ...right, ...largest_first },
        {
          title: "share",
          field: "share",
          width: 64,
          ...right,
          ...largest_first,
          formatter: (cell) => share_text(cell.getValue(), 1),
        },
        {
          title: "tensors",
          field: "tensors",
          width: 72,
          ...right,
          ...largest_first,
          formatter: (cell) => count_text(cell.getValue()),
        },
        {
          title: "at peak",
          field: "peak_bytes",
          width: 84,
          formatter: bytes,
          ...right,
          ...largest_first,
        },
      ],
    });
    this.#ready = new Promise((done) => this.#table.on("tableBuilt", () => done()));
    this.#table.on("rowClick", (_, row) => this.#click((row.getData() as row).id));
  }

  update(scene: scene): void {
    this.#scene = scene;
    const moment = nearest_moment(scene.device, scene.event);
    const { run, device, site, query } = scene.state;
    const shown = JSON.stringify([run, device, moment, site, query, scene.theme]);
    const { clientWidth } = this.#place;
    if (clientWidth !== this.#width && this.#width > 0) this.#table.redraw();
    this.#width = clientWidth;
    if (shown === this.#shown) return;
    this.#shown = shown;
    const rows = this.#rows(scene, moment);
    void this.#ready.then(async () => {
      if (this.#shown !== shown) return;
      await this.#table.replaceData(rows);
    });
  }

  #rows(scene: scene, moment: number): row[] {
    const live = live_set_at(scene.device, moment);
    if (live === null) return [];
    const peak = live_set_at(scene.device, nearest_moment(scene.device, scene.default_event))!;
    const now = by_site(scene.run, live);
    const then = by_site(scene.run, peak);
    const make = (
      id: number,
      site: string,
      label: string,
      bytes: number,
      tensors: number,
      peak_bytes: number,
    ): row => ({
      id,
      site,
      label,
      bytes,
      tensors,
      peak_bytes,
      share: live.bytes > 0 ? bytes / live.bytes : 0,
    });
    const rows = [...new Set([...now.keys(), ...then.keys()])]
      .filter((id) => scene.is_found(id) || id === scene.state.site)
      .map((id) =>
        make(
          id,
          scene.run.sites[id]?.site ?? "unknown stack",
          scene.run.sites[id]?.label ?? "",
          now.get(id)?.bytes ?? 0,
          now.get(id)?.tensors ?? 0,
          then.get(id)?.bytes ?? 0,
        ),
      );
    if (scene.state.query.trim() === "" && (live.rest.bytes > 0 || peak.rest.bytes > 0)) {
      rows.push(
        make(rest_id, "all other stacks", "", live.rest.bytes, live.rest.tensors, peak.rest.bytes),
      );
    }
    const sum = rows.reduce((bytes, row) => bytes + row.bytes, 0);
    this.#note.textContent = `${many(rows.length, "site")}, ${byte_text(sum)}`;
    return rows;
  }

  #site_cell({ id, site, label }: row): HTMLElement {
    const swatch = element("i", { class: "swatch" });
    if (id >= 0) swatch.style.background = this.#scene!.colour(id);
    const cell = element("span", { class: "cell" }, swatch, foreign(site));
    if (label !== "" && !site.includes(label)) cell.append(element("small", {}, foreign(label)));
    cell.title = visible(label === "" ? site : `${site} ${label}`);
    if (id >= 0 && id === this.#scene!.state.site) cell.classList.add("chosen");
    return cell;
  }

  #click(id: number): void {
    if (id < 0) return;
    this.store.set({ site: id === this.store.state.site ? null : id, lifetime: null });
  }
}
