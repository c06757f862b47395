#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Runs `memreplay timeline` and `report --svg`: what they write, and what they refuse.

    MEMREPLAY_PROGRAM=PROGRAM timeline_test.py [unittest options]
"""

import base64
import json
import pickle
import struct
import unittest
import xml.dom.minidom

from program_test import MIB, ProgramTest, frame, make_snapshot

HOSTILE = "</script><script>alert(1)</script>\"'&\u202e\u2028.py"


def column(packed):
    """Numbers of a typed array in base64."""
    ((kind, text),) = packed.items()
    letter = {"f64": "d", "u32": "I", "u8": "B"}[kind]
    data = base64.b64decode(text)
    return list(struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data))


def hostile_snapshot():
    document = make_snapshot()
    stack = [frame(HOSTILE, "/src/" + HOSTILE, 3)]
    for entry in document["device_traces"][0]:
        entry["frames"] = stack
    document["device_traces"][0].append(
        {"action": "oom", "addr": 5, "size": MIB, "stream": 0, "time_us": 99, "frames": stack})
    return document


class Timeline(ProgramTest):
    def snapshot(self, name="one.pickle", document=None):
        return self.put(name, pickle.dumps(document or make_snapshot()))

    def data(self, *arguments):
        result = self.run_program("timeline", *arguments, "--json", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def has_page(self):
        return self.run_program("timeline", self.snapshot(), "-o", "-").returncode == 0

    def test_data_agree_with_the_report(self):
        path = self.snapshot()
        data = self.data(path)
        self.assertEqual(data["schema"], "memreplay.timeline/1")
        self.assertTrue(data["program"].startswith("memreplay "))
        (run,) = data["runs"]
        self.assertEqual(run["label"], "one.pickle")
        (device,) = run["devices"]
        report = json.loads(self.run_program("report", path, "--json").stdout)["devices"][0]
        curve = device["curves"]["allocated"]
        self.assertEqual(curve["peak_bytes"], report["peak_bytes"])
        self.assertEqual(max(column(curve["high"])), report["peak_bytes"])
        self.assertEqual([peak["event"] for peak in device["peaks"]],
                         [peak["event"] for peak in report["peaks"]])
        areas = device["areas"]
        moments = len(column(areas["event"]))
        rows = column(areas["bytes"])
        sums = [sum(rows[moment::moments]) for moment in range(moments)]
        self.assertEqual(max(sums), report["peak_bytes"])
        self.assertEqual(column(device["lifetimes"]["first_vertex"])[-1],
                         len(column(device["lifetimes"]["vertex_event"])))
        self.assertEqual(sum(row["bytes"] for row in device["map"]["segments"]), 20 * MIB)

    def test_labels(self):
        one, two = self.snapshot(), self.snapshot("two.pickle")
        labels = lambda *more: [run["label"] for run in self.data(one, two, *more)["runs"]]
        self.assertEqual(labels(), ["one.pickle", "two.pickle"])
        self.assertEqual(labels("--labels", "TP2,TP4"), ["TP2", "TP4"])
        self.assertEqual(labels("--labels", "TP2", "TP 4"), ["TP2", "TP 4"])
        (self.folder / "deep").mkdir()
        same = self.snapshot("deep/one.pickle")
        self.assertEqual([run["label"] for run in self.data(one, same)["runs"]], [one, same])
        result = self.run_program("timeline", one, two, "--labels", "a,b,c")
        self.assert_one_line(result, 2, "3 labels for 2 snapshots")

    def test_what_is_refused(self):
        one = self.snapshot()
        before = self.files()
        for words in (["--precision", "0"], ["--precision", "nan"], ["--format", "png"],
                      ["--json", "--format", "svg"], []):
            files = [one] if words else []
            with self.subTest(words=words):
                self.assert_one_line(self.run_program("timeline", *files, *words), 2)
        bad = self.put("bad.pickle", b"nothing")
        result = self.run_program("timeline", one, bad, "--json", "--quiet")
        self.assert_one_line(result, 2, "bad.pickle")
        self.assertEqual(result.stdout, b"")
        result = self.run_program("timeline", one, "--format", "svg", "-o", "no/such/folder.svg")
        self.assert_one_line(result, 2, "no/such/folder.svg")
        self.assertEqual(self.files(), sorted(before + ["bad.pickle"]))

    def test_other_peoples_files_stay(self):
        one = self.snapshot()
        self.put("mine.svg", b"<svg>drawn by hand</svg>")
        arguments = ("timeline", one, "--format", "svg", "--output", "mine.svg")
        self.assert_one_line(self.run_program(*arguments), 2, "mine.svg", "--force")
        self.assertEqual((self.folder / "mine.svg").read_bytes(), b"<svg>drawn by hand</svg>")
        self.assertEqual(self.run_program(*arguments, "--force").returncode, 0)
        self.assertEqual(self.run_program(*arguments).returncode, 0, "our own is replaced")

    def test_pictures(self):
        for name, document in (("one", None), ("hostile", hostile_snapshot()),
                               ("state", {**make_snapshot(), "device_traces": []})):
            path = self.snapshot(f"{name}.pickle", document)
            result = self.run_program("timeline", path, "--format", "svg", "--labels", HOSTILE)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"Wrote {self.folder}/MEM_TIMELINE_{name}.svg", result.stderr.decode())
            picture = (self.folder / f"MEM_TIMELINE_{name}.svg").read_bytes()
            tags = {node.tagName for node in
                    xml.dom.minidom.parseString(picture).getElementsByTagName("*")}
            self.assertLessEqual(tags, {"svg", "title", "desc", "style", "text", "line", "path",
                                        "circle", "rect"})

    def test_names_that_are_hostile(self):
        path = self.snapshot("hostile.pickle", hostile_snapshot())
        result = self.run_program("timeline", path, "--json", "--labels", HOSTILE)
        self.assertNotIn(b"<", result.stdout)
        self.assertNotIn("\u2028".encode(), result.stdout)
        (run,) = json.loads(result.stdout)["runs"]
        self.assertEqual(run["label"], HOSTILE)
        self.assertEqual(run["frames"][0]["function"], HOSTILE)

    def test_a_file_without_traces_is_a_map(self):
        path = self.snapshot("state.pickle", {**make_snapshot(), "device_traces": []})
        (device,) = self.data(path)["runs"][0]["devices"]
        self.assertEqual(device["events"], 0)
        self.assertEqual(column(device["curves"]["first_event"]), [0])
        self.assertEqual(device["map"]["event"], -1)
        self.assertGreater(len(column(device["map"]["block_bytes"])), 10)

    def test_page(self):
        if not self.has_page():
            result = self.run_program("timeline", self.snapshot())
            self.assert_one_line(result, 2, "npm", "--format svg")
            self.skipTest("this build has no page")
        path = self.snapshot("hostile.pickle", hostile_snapshot())
        self.assertEqual(self.run_program("timeline", path).returncode, 0)
        page = (self.folder / "MEM_TIMELINE_hostile.html").read_text()
        before, data = page.split('id="page-data">', 1)
        data, after = data.split("</script>", 1)
        self.assertEqual(json.loads(data)["runs"][0]["frames"][0]["function"], HOSTILE)
        self.assertIn("<script>", after)
        self.assertEqual(self.run_program("timeline", path).returncode, 0, "our own is replaced")

    def test_runs_share_the_page(self):
        paths = [self.snapshot(f"{number}.pickle") for number in range(9)]
        self.assertEqual(len(self.data(*paths)["runs"]), 9)

    def test_picture_of_the_report(self):
        path = self.snapshot()
        (self.folder / "img").mkdir()
        self.assertEqual(
            self.run_program("report", path, "--svg", "img/my curve.svg").returncode, 0)
        text = (self.folder / "MEM_PEAK_ANALYSIS_one.md").read_text()
        self.assertIn("\n![GPU memory over time](img/my%20curve.svg)\n", text)
        picture = (self.folder / "img/my curve.svg").read_bytes()
        xml.dom.minidom.parseString(picture)
        plain = self.run_program("report", path, "--out", "-").stdout.decode()
        self.assertEqual(
            text.replace("\n![GPU memory over time](img/my%20curve.svg)\n", ""), plain)
        self.assert_one_line(self.run_program("report", path, "--svg", "-"), 2, "--svg")


if __name__ == "__main__":
    unittest.main()
