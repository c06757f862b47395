// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// The page in a real browser: what it shows is the data, and what it offers does what it says.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  click_at,
  close_browser,
  drag,
  hash_of,
  legend,
  open_tab,
  page_module,
  plot_box,
  point_at,
  settle,
  tooltip_text,
  write_page,
} from "./browser.mjs";
import { hostile, small_page, two_runs } from "./page_data.mjs";

const { byte_text, byte_range_text, count_text, digits_text, signed_byte_text } =
  await page_module("bytes");
const { decode_page, frames_of, site_of } = await page_module("data");
const { by_site, live_set_at, nearest_moment } = await page_module("live_set");

const source = small_page();
const url = write_page(source);
const run = decode_page(JSON.stringify(source)).runs[0];
const device = run.device(0);
const peak = device.peaks[0];
const site_names = run.sites.map(({ site }) => site);

after(close_browser);

/** The test in its own tab; it fails on errors, warnings and requests. */
function in_tab(name, hash, body, address = url) {
  test(name, { timeout: 60000 }, async () => {
    const { page, check } = await open_tab(address, hash);
    try {
      await body(page);
      check();
    } finally {
      await page.close();
    }
  });
}

const event_shown = async (page) =>
  Number(
    /event ([\d,]+)/.exec(await page.locator(".curves .note").innerText())[1].replaceAll(",", ""),
  );

const live_now = (event) => live_set_at(device, nearest_moment(device, event));

async function table_rows(page) {
  const rows = page.locator(".tabulator-row");
  return rows.evaluateAll((found) =>
    found.map((row) =>
      [...row.querySelectorAll(".tabulator-cell")].map((cell) => cell.innerText.trim()),
    ),
  );
}

/** How many pixels of a canvas have a colour. */
const pixels_of = (page, panel, colour) =>
  page
    .locator(`.${panel} canvas`)
    .first()
    .evaluate((canvas, wanted) => {
      const { width, height } = canvas;
      const copy = new OffscreenCanvas(width, height).getContext("2d", {
        willReadFrequently: true,
      });
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, width, height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (data[i] === wanted[0] && data[i + 1] === wanted[1] && data[i + 2] === wanted[2])
          ++count;
      }
      return count;
    }, colour);
const colour_of_site = { 0: [0x00, 0x77, 0xbb], 1: [0xee, 0x77, 0x33] };

in_tab("opens at the global peak with the numbers of the data", "", async (page) => {
  assert.equal(await legend(page, "allocated"), byte_text(peak.bytes));
  const reserved = device.curves.reserved;
  assert.equal(await legend(page, "reserved"), byte_text(reserved.high[peak.event]));
  assert.equal(await event_shown(page), peak.event);
  const summary = await page.locator(".summary").innerText();
  assert.match(summary, new RegExp(`peak ${byte_text(peak.bytes)} allocated`));
  assert.match(summary, /1 OOM/);
  const facts = await page.locator(".facts").innerText();
  for (const text of [
    run.file,
    "1,600",
    "12.000 s",
    device.findings[0].text,
    device.audit[0].message,
    device.audit[0].advice,
    "(block sizes estimated)",
  ]) {
    assert.ok(facts.includes(text), text);
  }
});

in_tab("fits 1280 x 800: nothing sideways, all charts on the first screen", "", async (page) => {
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 1280);
  for (const panel of ["curves", "areas", "map", "selection", "flame", "sites"]) {
    const box = await page.locator(`.panel.${panel}`).boundingBox();
    assert.ok(box.y >= 0 && box.y + box.height <= 800, panel);
    assert.ok(box.x >= 0 && box.x + box.width <= 1280, panel);
    assert.ok(box.height > 120, panel);
  }
});

in_tab("hover says the exact bytes of an event", "", async (page) => {
  for (const part of [0.05, 0.31, 0.62, 0.97]) {
    await point_at(page, "curves", part);
    const event = await event_shown(page);
    assert.ok(Math.abs(event - part * device.events) < 5, `${event} at ${part}`);
    for (const measure of ["allocated", "reserved"]) {
      const { low, high } = device.curves[measure];
      assert.equal(await legend(page, measure), byte_range_text(low[event], high[event]));
    }
  }
});

in_tab("hover over an area names its site, its bytes and its share", "", async (page) => {
  await point_at(page, "areas", 0.3, 0.97);
  const carried = await tooltip_text(page);
  assert.match(carried, /^carried in/);
  const { areas } = device;
  const moments = areas.event.length;
  const m = Number(/event ([\d,]+)/.exec(carried)[1].replaceAll(",", ""));
  const moment = areas.event.indexOf(m);
  assert.ok(carried.includes(byte_text(areas.bytes[(areas.sites.length + 1) * moments + moment])));
  await point_at(page, "areas", 0.3, 0.7);
  const first = await tooltip_text(page);
  assert.ok(first.includes(run.sites[areas.sites[0]].site));
  assert.ok(first.includes(byte_text(areas.bytes[moment])));
});

in_tab(
  "click on a shape of the map tells its lifetime and whole stack, with links",
  "",
  async (page) => {
    await click_at(page, "map", 0.3, 0.7);
    const chosen = Number((await hash_of(page)).get("lifetime"));
    const { birth, end, bytes, stack } = device.lifetimes;
    const event = await event_shown(page);
    assert.ok(birth[chosen] <= event && event < end[chosen]);
    const text = await page.locator(".selection").innerText();
    assert.ok(text.includes(run.sites[site_of(run, stack[chosen])].site));
    assert.ok(text.includes(digits_text(bytes[chosen])), text);
    assert.ok(text.includes(byte_text(bytes[chosen])), text);
    const frames = frames_of(run, stack[chosen]);
    const rows = await page.locator(".selection ol li").allInnerTexts();
    assert.equal(rows.length, frames.length);
    frames.forEach((frame, i) => {
      assert.ok(rows[i].startsWith(frame.function) && rows[i].includes(frame.file));
    });
    const links = await page
      .locator(".selection ol a")
      .evaluateAll((all) => all.map((a) => a.href));
    assert.deepEqual(
      links,
      frames.map(({ link }) => link).filter((link) => link !== ""),
    );
    await point_at(page, "map", 0.3, 0.7);
    assert.ok((await tooltip_text(page)).includes(byte_text(bytes[chosen])));
    await click_at(page, "map", 0.3, 0.7);
    assert.equal((await hash_of(page)).get("lifetime"), null);
  },
);

in_tab("the table and the flame graph are the live set at the clicked moment", "", async (page) => {
  for (const part of [null, 0.55]) {
    if (part !== null) await click_at(page, "curves", part);
    await settle(page);
    const live = live_now(part === null ? peak.event : Number((await hash_of(page)).get("event")));
    const sums = [...by_site(run, live)].sort((a, b) => b[1].bytes - a[1].bytes);
    const rows = await table_rows(page);
    assert.equal(
      rows.length,
      new Set([...sums.map(([id]) => id), ...by_site(run, live_now(peak.event)).keys()]).size,
    );
    sums.forEach(([site, { bytes, tensors }], i) => {
      assert.ok(rows[i][0].startsWith(site_names[site]), rows[i][0]);
      assert.equal(rows[i][1], byte_text(bytes));
      assert.equal(rows[i][2], `${((100 * bytes) / live.bytes).toFixed(1)} %`);
      assert.equal(rows[i][3], count_text(tensors));
    });
    assert.ok((await page.locator(".flame .note").innerText()).startsWith(byte_text(live.bytes)));
    const root = page.locator(".flame g.frame").first();
    assert.ok((await root.textContent()).includes(byte_text(live.bytes)));
  }
});

in_tab("the table sorts by its heads", "", async (page) => {
  await page.locator(".tabulator-col-title", { hasText: "site" }).click();
  await settle(page);
  const names = (await table_rows(page)).map(([name]) => name);
  const sorted = [...names].sort((a, b) => a.localeCompare(b));
  assert.ok([names.join(), [...names].reverse().join()].includes(sorted.join()));
});

in_tab(
  "a frame of the flame graph says what it holds, and a click shows its stack",
  "",
  async (page) => {
    const frame = page.locator(".flame g.frame[name='forward']").first();
    await frame.hover();
    await settle(page);
    const tip = await tooltip_text(page);
    assert.match(tip, /^forward/);
    assert.match(tip, /\d+\.\d\d \w?iB, \d+\.\d %/);
    await frame.click();
    await settle(page);
    const rows = await page.locator(".selection ol li").allInnerTexts();
    assert.ok(rows.some((row) => row.startsWith("forward")));
    assert.ok(rows.at(-1).startsWith("main"));
  },
);

in_tab("drag zooms all charts, a double click resets them", "", async (page) => {
  for (const panel of ["curves", "areas", "map"]) {
    await drag(page, panel, 0.25, 0.5);
    const [from, to] = (await hash_of(page)).get("zoom").split("-").map(Number);
    assert.ok(Math.abs(from - 400) < 6 && Math.abs(to - 800) < 6, `${panel}: ${from} ${to}`);
    for (const other of ["curves", "areas", "map"]) {
      await point_at(page, other, 0.5);
      assert.ok(Math.abs((await event_shown(page)) - 600) < 6, other);
    }
    const { x, y, width, height } = await plot_box(page, panel);
    await page.mouse.dblclick(x + width / 2, y + height / 2);
    await settle(page);
    assert.equal((await hash_of(page)).get("zoom"), null);
  }
});

in_tab("zoomed in, a bucket is an event and the curve keeps its peak", "", async (page) => {
  const around = `#zoom=${peak.event - 20}-${peak.event + 20}`;
  await page.evaluate((hash) => {
    location.hash = hash;
  }, around);
  await settle(page);
  const part = (peak.event + 0.5 - (peak.event - 20)) / 40;
  await point_at(page, "curves", part);
  assert.equal(await event_shown(page), peak.event);
  assert.equal(await legend(page, "allocated"), byte_text(peak.bytes));
  assert.match(
    await tooltip_text(page),
    new RegExp(`^Peak 1 \\(global\\): ${byte_text(peak.bytes)}`),
  );
});

in_tab("a search shows its sites in all views", "", async (page) => {
  const before = await pixels_of(page, "areas", colour_of_site[0]);
  const wanted = await pixels_of(page, "areas", colour_of_site[1]);
  assert.ok(before > 500 && wanted > 500);
  await page.keyboard.press("/");
  await page.keyboard.type("ATTENTION");
  await settle(page);
  const matches = site_names.filter((name) => name.includes("attention"));
  assert.equal(await page.locator(".found").innerText(), `${matches.length} sites`);
  const rows = await table_rows(page);
  assert.equal(rows.length, matches.length);
  for (const name of matches)
    assert.ok(
      rows.some(([cell]) => cell.startsWith(name)),
      name,
    );
  assert.equal(await pixels_of(page, "areas", colour_of_site[0]), 0);
  assert.equal(await pixels_of(page, "map", colour_of_site[0]), 0);
  assert.equal(await pixels_of(page, "segments", colour_of_site[0]), 0);
  assert.equal(await pixels_of(page, "areas", colour_of_site[1]), wanted);
  assert.ok((await pixels_of(page, "map", colour_of_site[1])) > 500);
  assert.equal((await hash_of(page)).get("find"), "ATTENTION");
  await page.keyboard.press("Escape");
  await settle(page);
  assert.equal(await page.locator("#search").inputValue(), "");
  assert.equal(await pixels_of(page, "areas", colour_of_site[0]), before);
});

in_tab(
  "a click on a row chooses its site everywhere, a second click leaves it",
  "",
  async (page) => {
    const row = page.locator(".tabulator-row", { hasText: site_names[1] });
    await row.click();
    await settle(page);
    assert.equal((await hash_of(page)).get("site"), "1");
    assert.equal(await pixels_of(page, "areas", colour_of_site[0]), 0);
    const text = await page.locator(".selection").innerText();
    const sum = by_site(run, live_now(peak.event)).get(1);
    assert.ok(text.includes(site_names[1]) && text.includes(digits_text(sum.bytes)), text);
    assert.ok((await page.locator(".selection ol li").count()) > 1);
    await page.locator(".tabulator-row", { hasText: site_names[1] }).click();
    await settle(page);
    assert.equal((await hash_of(page)).get("site"), null);
  },
);

in_tab("measures go on and off, one stays", "", async (page) => {
  const shown = async () =>
    (
      await page
        .locator(".curves .entry")
        .evaluateAll((all) => all.map(({ dataset }) => dataset.measure))
    ).join();
  assert.equal(await shown(), "allocated,reserved");
  await page.click("#measure-active");
  await settle(page);
  assert.equal(await shown(), "allocated,active,reserved");
  assert.equal(await legend(page, "active"), byte_text(device.curves.active.high[peak.event]));
  for (const key of ["1", "2", "3"]) await page.keyboard.press(key);
  await settle(page);
  assert.equal(await shown(), "reserved");
  assert.equal((await hash_of(page)).get("show"), "re");
});

in_tab("wall clock and event index", "", async (page) => {
  await page.click("#axis-wall-clock");
  await settle(page);
  assert.equal((await hash_of(page)).get("x"), "time");
  assert.equal(await event_shown(page), peak.event);
  await point_at(page, "curves", 0.5);
  const event = await event_shown(page);
  const { seconds } = device;
  assert.ok(seconds[event] <= 6.03 && seconds[event + 1] >= 5.97, `${event}`);
  assert.equal(await legend(page, "allocated"), byte_text(device.curves.allocated.high[event]));
  await drag(page, "curves", 0, 0.5);
  const [, to] = (await hash_of(page)).get("zoom").split("-").map(Number);
  assert.ok(Math.abs(to - event) < 5);
  await page.click("#axis-event");
  await settle(page);
  await point_at(page, "curves", 0.999);
  assert.ok(Math.abs((await event_shown(page)) - to) < 5);
});

in_tab("absolute and delta", "", async (page) => {
  await page.click("#mode-delta");
  await settle(page);
  const { start_bytes } = device.curves.allocated;
  assert.equal(await legend(page, "allocated"), signed_byte_text(peak.bytes - start_bytes));
  await page.click("#mode-absolute");
  await settle(page);
  assert.equal(await legend(page, "allocated"), byte_text(peak.bytes));
});

in_tab("keys do what the switches do", "", async (page) => {
  await page.keyboard.press("+");
  await settle(page);
  let [from, to] = (await hash_of(page)).get("zoom").split("-").map(Number);
  assert.equal(to - from, 800);
  await page.keyboard.press("ArrowRight");
  await settle(page);
  const moved = (await hash_of(page)).get("zoom").split("-").map(Number);
  assert.equal(moved[0] - from, 160);
  assert.equal(moved[1] - to, 160);
  await page.keyboard.press("-");
  await page.keyboard.press("0");
  await settle(page);
  assert.equal((await hash_of(page)).toString(), "");
  await page.keyboard.press("n");
  await settle(page);
  const next = device.peaks
    .map(({ event }) => event)
    .sort((a, b) => a - b)
    .find((event) => event > peak.event);
  assert.equal((await hash_of(page)).get("event"), String(next));
  await page.keyboard.press(".");
  await settle(page);
  assert.equal((await hash_of(page)).get("event"), String(next + 1));
  await page.keyboard.press("d");
  await page.keyboard.press("w");
  await page.keyboard.press("t");
  await settle(page);
  const hash = await hash_of(page);
  assert.deepEqual([hash.get("y"), hash.get("x"), hash.get("theme")], ["delta", "time", "dark"]);
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  await page.keyboard.press("?");
  assert.ok(await page.locator("#keys").isVisible());
});

in_tab(
  "the address keeps the view",
  "#x=time&y=delta&show=al.ac&zoom=200-900&event=700&find=mlp&theme=dark",
  async (page) => {
    const picture = async () => [
      await legend(page, "allocated"),
      await legend(page, "active"),
      await page.locator(".curves .note").innerText(),
      await table_rows(page),
      await page.locator("html").getAttribute("data-theme"),
    ];
    const first = await picture();
    assert.equal(await event_shown(page), 700);
    await page.reload();
    await settle(page);
    assert.deepEqual(await picture(), first);
    assert.equal(first.at(-1), "dark");
    await page.evaluate(() => {
      location.hash = "";
    });
    await settle(page);
    assert.equal(await event_shown(page), peak.event);
  },
);

in_tab(
  "the OOM and the steps are marked",
  `#zoom=${device.ooms[0].event - 10}-${device.ooms[0].event + 10}`,
  async (page) => {
    await point_at(page, "curves", 0.5);
    const [oom] = device.ooms;
    const tip = await tooltip_text(page);
    assert.ok(tip.includes(`OOM: ${byte_text(oom.requested_bytes)} requested`), tip);
    assert.ok(tip.includes(oom.site), tip);
    assert.match(await page.locator(".curves .note").innerText(), /ProfilerStep#4/);
  },
);

in_tab("the segment map tells its blocks", "", async (page) => {
  const canvas = page.locator(".segments canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + 3, box.y + 5);
  await settle(page);
  const { map } = device;
  const tip = await tooltip_text(page);
  assert.ok(tip.includes(`block: ${byte_text(map.block_bytes[0])}, allocated`), tip);
  assert.ok(tip.includes(map.segments[0].address), tip);
  assert.ok(tip.includes(`requested: ${byte_text(map.block_requested[0])}`), tip);
  await page.mouse.click(box.x + 3, box.y + 5);
  await settle(page);
  assert.ok(
    (await page.locator(".selection").innerText()).includes(digits_text(map.block_bytes[0])),
  );
  assert.match(await page.locator(".segments .note").innerText(), /^at the OOM, event 1,440/);
});

in_tab("another device has its own numbers", "", async (page) => {
  await page.selectOption("#device", "1");
  await settle(page);
  const other = run.device(1);
  assert.equal(await legend(page, "allocated"), byte_text(other.peaks[0].bytes));
  assert.match(await page.locator(".summary").innerText(), /device 1 .* 1,400 events/);
  assert.equal((await hash_of(page)).get("device"), "1");
});

in_tab("prints in light colours, with all charts", "#theme=dark", async (page) => {
  const pdf = await page.pdf({ landscape: true, preferCSSPageSize: true, printBackground: true });
  assert.ok(pdf.length > 20000);
  await settle(page);
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
});

const odd = small_page({ odd: true });
in_tab(
  "a hostile snapshot stays text",
  "",
  async (page) => {
    const is_hurt = () => page.evaluate(() => window.hurt !== undefined);
    for (const row of await page.locator(".tabulator-row").all()) await row.click();
    for (const x of [0.1, 0.3, 0.5, 0.7]) {
      await point_at(page, "areas", x, 0.7);
      await click_at(page, "map", x, 0.8);
      await point_at(page, "map", x, 0.6);
    }
    const frames = (await page.locator(".flame g.frame").all()).slice(0, 12);
    for (const frame of frames) await frame.hover();
    await frames.at(-1).click();
    await page.fill("#search", "</script>");
    await settle(page);
    assert.equal(await page.locator(".found").innerText(), "1 site");
    await page.locator(".tabulator-row").first().click();
    await settle(page);
    assert.ok((await page.locator(".selection").innerText()).includes(hostile[0]));
    assert.equal(await is_hurt(), false);
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.locator("script").count(), 2);
    assert.equal(await page.locator("a[href^='javascript:']").count(), 0);
  },
  write_page(odd),
);

const pair = two_runs();
const [first, second] = decode_page(JSON.stringify(pair)).runs.map((run) => run.device(0));
in_tab(
  "two runs: their curves, and the difference",
  "",
  async (page) => {
    await point_at(page, "curves", 0.5);
    const event = await event_shown(page);
    const a = first.curves.allocated.high[event];
    const b = second.curves.allocated.high[event];
    assert.equal(await legend(page, "allocated", 0), byte_text(a));
    assert.equal(await legend(page, "allocated", 1), byte_text(b));
    const difference = page.locator(".entry[data-difference]");
    assert.equal(await difference.locator(".name").innerText(), "longer batch \u2212 base");
    assert.equal(await difference.locator("b").innerText(), signed_byte_text(b - a));
    await page.selectOption("#run", "1");
    await settle(page);
    assert.equal(await event_shown(page), second.peaks[0].event);
    assert.equal(await legend(page, "allocated", 1), byte_text(second.peaks[0].bytes));
    await point_at(page, "curves", 0.99);
    assert.equal(await legend(page, "allocated", 0), "\u2013");
  },
  write_page(pair),
);

const bare = small_page({ events: 300, devices: 1, has_times: false });
Object.assign(bare.runs[0].devices[0], {
  map: null,
  ooms: [],
  steps: [],
  annotations: [],
  findings: [],
  audit: [],
});
in_tab(
  "a trace without times, steps and segments",
  "",
  async (page) => {
    assert.ok(await page.locator("#axis-wall-clock").isDisabled());
    await page.keyboard.press("w");
    await settle(page);
    assert.equal((await hash_of(page)).get("x"), null);
    assert.match(await page.locator(".segments .note").innerText(), /nothing of segments/);
  },
  write_page(bare),
);
