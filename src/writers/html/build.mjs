// SPDX-FileCopyrightText: The memreplay authors
// SPDX-License-Identifier: Apache-2.0
// Bundles the page into one file with a place for the data: `node build.mjs OUT.html`.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "page.html");

const result = await build({
  entryPoints: [join(here, "src/main.ts")],
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  charset: "ascii",
  legalComments: "inline",
  metafile: true,
  write: false,
  outdir: here,
  absWorkingDir: here,
});

/** What stands inside an element must not end it. */
const closed = (text, tag) => text.replace(new RegExp(`</(?=${tag})`, "gi"), "<\\/");
const file_of = (extension) =>
  result.outputFiles.find(({ path }) => path.endsWith(extension)).text.trim();
const script = closed(file_of(".js"), "script").replaceAll("<!--", "<\\!--");
const style = closed(file_of(".css"), "style");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Every package that went into the bundle, with its licence: they ask for that. */
function licenses() {
  const packages = new Set(
    Object.keys(result.metafile.inputs)
      .map((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
      .filter((folder) => folder !== undefined),
  );
  return [...packages]
    .sort()
    .map((folder) => {
      const path = join(here, folder);
      const { name, version, license } = JSON.parse(
        readFileSync(join(path, "package.json"), "utf8"),
      );
      const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry));
      const text =
        file !== undefined && existsSync(join(path, file))
          ? readFileSync(join(path, file), "utf8").trim()
          : license;
      return `${name} ${version} (${license})\n\n${text}`;
    })
    .join("\n\n")
    .replaceAll("--", "- -");
}

const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const template = readFileSync(join(here, "src/page.html"), "utf8");
const parts = { POLICY: policy, STYLE: style, SCRIPT: script, LICENSES: licenses() };
const page = template.replace(/@(POLICY|STYLE|SCRIPT|LICENSES)@/g, (_, name) => parts[name]);
if (page.split("@PAGE_DATA@").length !== 2) throw new Error("the page has one place for its data");
writeFileSync(out, page);
