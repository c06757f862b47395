// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The head of the page: what is shown, and the switches.
import { exactness_text, many } from "./bytes";
import { type measure, measures } from "./data";
import { element, foreign, visible } from "./dom";
import type { models, scene } from "./scene";
import type { store } from "./state";

interface choice<T> {
  value: T;
  text: string;
  key: string;
  hint: string;
}

export class toolbar {
  readonly search: HTMLInputElement;
  readonly #title = element("h1");
  readonly #summary = element("p", { class: "summary" });
  readonly #found = element("output", { class: "found" });
  readonly #run: HTMLSelectElement;
  readonly #device: HTMLSelectElement;
  readonly #updates: ((scene: scene) => void)[] = [];
  #scene: scene | null = null;

  constructor(
    parent: HTMLElement,
    readonly models: models,
    readonly store: store,
  ) {
    const { page } = models;
    this.#run = element(
      "select",
      { "aria-label": "run", id: "run" },
      ...page.runs.map((run, index) =>
        element("option", { value: String(index) }, visible(run.label)),
      ),
    );
    this.#run.onchange = () =>
      store.set({
        run: Number(this.#run.value),
        device: this.#device_in(Number(this.#run.value)),
        window: null,
        event: null,
        site: null,
        lifetime: null,
      });
    this.#device = element("select", { "aria-label": "device", id: "device" });
    this.#device.onchange = () =>
      store.set({
        device: Number(this.#device.value),
        window: null,
        event: null,
        lifetime: null,
      });
    this.search = element("input", {
      type: "search",
      id: "search",
      placeholder: "find a site  /",
      "aria-label": "find a site",
      spellcheck: "false",
      maxlength: "200",
    });
    this.search.oninput = () => store.set({ query: this.search.value, site: null });
    const reset = this.#button("reset", "Reset", "0: the whole trace, no search, no selection");
    reset.onclick = () => this.reset();
    const theme = this.#button("theme", "Dark", "t: dark or light");
    theme.onclick = () => this.toggle_theme();
    this.#updates.push(({ theme: now }) => {
      theme.textContent = now === "dark" ? "Light" : "Dark";
    });
    const help = this.#button("help", "?", "keys");
    help.onclick = () => toggle_help();
    parent.append(
      element("div", { class: "names" }, this.#title, this.#summary),
      element(
        "div",
        { class: "switches" },
        ...(page.runs.length > 1 ? [this.#run] : []),
        this.#device,
        this.#radio(
          "axis",
          [
            { value: "event", text: "event", key: "e", hint: "horizontal: event index" },
            { value: "time", text: "wall clock", key: "w", hint: "horizontal: wall clock" },
          ],
          (state) => state.axis,
          (axis) => ({ axis: axis as "event" | "time" }),
        ),
        this.#radio(
          "mode",
          [
            { value: false, text: "absolute", key: "a", hint: "bytes from zero" },
            { value: true, text: "delta", key: "d", hint: "bytes since the trace began" },
          ],
          (state) => state.delta,
          (delta) => ({ delta }),
        ),
        this.#measures(),
        this.search,
        this.#found,
        reset,
        theme,
        help,
      ),
    );
  }

  #device_in(run: number): number {
    const number = this.#scene!.device.device;
    return Math.max(0, this.models.page.runs[run].device_numbers.indexOf(number));
  }

  #button(id: string, text: string, hint: string): HTMLButtonElement {
    return element("button", { id, type: "button", title: hint }, text);
  }

  #radio<T extends string | boolean>(
    name: string,
    choices: choice<T>[],
    get: (state: scene["state"]) => T,
    change: (value: T) => object,
  ): HTMLElement {
    const buttons = choices.map(({ value, text, key, hint }) => {
      const button = this.#button(`${name}-${text.replace(" ", "-")}`, text, `${key}: ${hint}`);
      button.onclick = () => this.store.set(change(value));
      this.#updates.push(({ state }) =>
        button.setAttribute("aria-pressed", String(get(state) === value)),
      );
      return button;
    });
    if (name === "axis") {
      this.#updates.push(({ device }) => {
        buttons[1].disabled = device.seconds === null;
        if (device.seconds === null) buttons[1].title = "the file has no times";
      });
    }
    return element("span", { class: "group", role: "group", "aria-label": name }, ...buttons);
  }

  #measures(): HTMLElement {
    const buttons = measures.map((measure, index) => {
      const button = this.#button(`measure-${measure}`, measure, `${index + 1}: on or off`);
      button.onclick = () => this.toggle_measure(measure);
      this.#updates.push(({ state }) =>
        button.setAttribute("aria-pressed", String(state.shown.includes(measure))),
      );
      return button;
    });
    return element("span", { class: "group", role: "group", "aria-label": "measures" }, ...buttons);
  }

  /** One stays at least. */
  toggle_measure(measure: measure): void {
    const { shown } = this.store.state;
    const others = measures.filter((name) => shown.includes(name) !== (name === measure));
    if (others.length > 0) this.store.set({ shown: others });
  }

  toggle_theme(): void {
    this.store.set({ theme: this.#scene?.theme === "dark" ? "light" : "dark" });
  }

  reset(): void {
    this.store.set({ window: null, event: null, query: "", site: null, lifetime: null });
  }

  update(scene: scene): void {
    this.#scene = scene;
    const { run, device, state } = scene;
    const runs = this.models.page.runs;
    this.#title.replaceChildren(
      ...runs.flatMap(({ label }, index) =>
        index === 0 ? [foreign(label)] : [" vs ", foreign(label)],
      ),
    );
    this.#summary.replaceChildren(
      `device ${device.device} \u00b7 peak ${exactness_text(device.exactness)}` +
        ` ${run.measure} \u00b7 ${many(device.events, "event")}`,
      ...(device.ooms.length === 0
        ? []
        : [" \u00b7 ", element("b", { class: "alarm" }, many(device.ooms.length, "OOM"))]),
    );
    this.#run.value = String(state.run);
    this.#device.replaceChildren(
      ...run.device_numbers.map((number, index) =>
        element("option", { value: String(index) }, `device ${number}`),
      ),
    );
    this.#device.value = String(state.device);
    this.#device.hidden = run.device_numbers.length < 2;
    if (document.activeElement !== this.search || this.search.value !== state.query) {
      this.search.value = state.query;
    }
    const count = run.sites.filter((_, site) => scene.is_asked_for(site)).length;
    this.#found.textContent = scene.searching ? many(count, "site") : "";
    for (const update of this.#updates) update(scene);
  }
}

export function toggle_help(): void {
  const dialog = document.getElementById("keys") as HTMLDialogElement;
  if (dialog.open) dialog.close();
  else dialog.showModal();
}
