#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the real program: a bad input is one line and status 2, a good one leaves what it should.

    program_test.py PROGRAM [unittest options], or MEMREPLAY_PROGRAM=PROGRAM program_test.py
"""

import base64
import bz2
import gzip
import io
import json
import lzma
import os
import pathlib
import pickle
import random
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

PROGRAM = os.environ.get("MEMREPLAY_PROGRAM", "")
BASE = 0x7F00_0000_0000
MIB = 1 << 20


def frame(name, filename, line):
    return {"name": name, "filename": filename, "line": line}


def make_snapshot(events=40):
    """Every second block is freed at once; the others stay."""
    stack = [frame("forward", "/src/model.py", 12), frame("main", "/src/train.py", 3)]
    first = {"addr": BASE, "size": 20 * MIB, "stream": 0, "time_us": 1, "frames": stack}
    trace = [{"action": "segment_alloc", **first}]
    blocks = []
    for row in range(events):
        address = BASE + row * 4096
        common = {"addr": address, "size": 4000, "stream": 0, "time_us": 10 + row, "frames": stack}
        trace.append({"action": "alloc", **common})
        state = "active_allocated"
        if row % 2:
            trace.append({"action": "free_requested", **common})
            trace.append({"action": "free_completed", **common})
            state = "inactive"
        sizes = {"size": 4096, "requested_size": 4000}
        blocks.append({"address": address, **sizes, "state": state, "frames": stack})
    used = events * 4096
    sizes = {"size": 20 * MIB - used, "requested_size": 0}
    blocks.append({"address": BASE + used, **sizes, "state": "inactive", "frames": []})
    live = (events + 1) // 2
    segment = {
        "device": 0,
        "address": BASE,
        "total_size": 20 * MIB,
        "allocated_size": live * 4096,
        "active_size": live * 4096,
        "requested_size": live * 4000,
        "stream": 0,
        "segment_type": "large",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": stack,
        "blocks": blocks,
    }
    return {
        "segments": [segment],
        "device_traces": [trace],
        "allocator_settings": {},
        "external_annotations": [],
    }


GOOD = pickle.dumps(make_snapshot(), protocol=4)


def page(*contents):
    encoded = [base64.b64encode(content).decode() for content in contents]
    files = [{"name": "a.pickle", "base64": content} for content in encoded]
    return f"<!DOCTYPE html><script>const local_files = {json.dumps(files)}</script>".encode()


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.assertTrue(os.path.isfile(PROGRAM), f"no program {PROGRAM!r}")
        folder = tempfile.TemporaryDirectory(prefix="memreplay_program_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def put(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def run_program(self, *arguments, stdin=b"", **options):
        return subprocess.run(
            [PROGRAM, *arguments],
            input=stdin,
            capture_output=True,
            timeout=120,
            cwd=self.folder,
            **options,
        )

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def assert_one_line(self, result, status, *words):
        """Exactly one line on standard error, without anything that a terminal obeys."""
        talk = result.stderr.decode(errors="replace")
        self.assertEqual(result.returncode, status, talk)
        self.assertEqual(talk.count("\n"), 1, talk)
        self.assertTrue(talk.endswith("\n"), talk)
        self.assertTrue(talk.startswith("memreplay: "), talk)
        self.assertIsNone(re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", talk), repr(talk))
        for word in words:
            self.assertIn(word, talk)

    def assert_refused(self, path, *words, options=(), named=None):
        """Both commands give one line and status 2, print nothing and leave nothing."""
        before = self.files()
        for command in ("report", "info"):
            result = self.run_program(command, path, *options)
            with self.subTest(command=command, path=path):
                self.assert_one_line(result, 2, named or os.path.basename(path), *words)
                self.assertEqual(result.stdout, b"")
                self.assertEqual(self.files(), before)


class BadInput(ProgramTest):
    def test_empty_file(self):
        self.assert_refused(self.put("empty.pickle", b""), "0 bytes")

    def test_truncated(self):
        rng = random.Random(1)
        lengths = [rng.randrange(4, len(GOOD)) for _ in range(12)]
        for length in [1, 2, 3, 11, 12, 50, len(GOOD) - 1, *lengths]:
            self.assert_refused(self.put("cut.pickle", GOOD[:length]), "--salvage")

    def test_truncated_old_protocols(self):
        for protocol in range(4):
            whole = pickle.dumps(make_snapshot(), protocol=protocol)
            for length in (2, len(whole) // 3, len(whole) - 1):
                self.assert_refused(self.put("cut.pickle", whole[:length]))

    def test_random_bytes(self):
        rng = random.Random(2)
        starts = (b"", b"\x80\x04", b"\x80\x02}", b"PK\x03\x04", b"\x1f\x8b\x08", b"{", b"<")
        for length in (1, 10, 1000, 100_000):
            for start in starts:
                self.assert_refused(self.put("noise", start + rng.randbytes(length)))

    def test_damaged_in_the_middle(self):
        rng = random.Random(3)
        for _ in range(20):
            bytes_ = bytearray(GOOD)
            at = rng.randrange(len(bytes_) // 2, len(bytes_) - 100)
            bytes_[at : at + 20] = rng.randbytes(20)
            path = self.put("damaged.pickle", bytes_)
            result = self.run_program("info", path)
            self.assertIn(result.returncode, (0, 2))
            if result.returncode == 2:
                self.assert_one_line(result, 2, "damaged.pickle")

    def test_not_a_snapshot(self):
        for content in (None, {}, [1], {"a": 1}, "segments", 5, (1, 2), [{"action": "alloc"}]):
            for protocol in range(6):
                other = pickle.dumps(content, protocol=protocol)
                self.assert_refused(self.put("other.pickle", other))

    def test_other_files(self):
        self.assert_refused(self.put("a.txt", b"loss = 3.5\n"), "not a memory snapshot")
        self.assert_refused(self.put("a.csv", b"col1,col2\n1,2\n"), "not a memory snapshot")
        pointer = b"version https://git-lfs.github.com/spec/v1\n"
        self.assert_refused(self.put("a.pickle", pointer), "git lfs pull")
        self.assert_refused(self.put("a.html", b"<html>404 Not Found</html>"), "HTML page")
        self.assert_refused(self.put("b.html", page(b"hello")), "not a memory snapshot")
        self.assert_refused(self.put("c.html", page(GOOD).replace(b"gASV", b"g!SV")), "base64")
        self.assert_refused(self.put("a.json", b'{"loss": 3}'), "not a memory snapshot")
        self.assert_refused(self.put("b.json", b'{"segments": ['), "damaged JSON")
        self.assert_refused(self.put("c.json", b"[" * 100_000), "refused")

    def test_archives_without_a_snapshot(self):
        self.assert_refused(self.put("a.gz", gzip.compress(b"hello")), "not a memory snapshot")
        self.assert_refused(self.put("b.gz", gzip.compress(GOOD)[:-200]), "damaged")
        self.assert_refused(self.put("c.gz", gzip.compress(b"")), "empty")
        self.assert_refused(self.put("a.zip", zipped(a=b"hello")), "not a memory snapshot")
        self.assert_refused(self.put("b.zip", zipped(rank0=GOOD, rank1=GOOD)), "rank0", "rank1")
        self.assert_refused(self.put("c.zip", zipped()), "no file")
        self.assert_refused(self.put("d.zip", zipped(a=GOOD)[:300]))
        nested = b"hello"
        for _ in range(6):
            nested = gzip.compress(nested)
        self.assert_refused(self.put("nested.gz", nested), "more than 4 times")

    def test_pickles_that_would_run_code(self):
        target = self.folder / "code_ran"
        command = f"touch {target}".encode()
        payloads = {
            "GLOBAL": b"cposix\nsystem\n(S'" + command + b"'\ntR.",
            "STACK_GLOBAL": b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c"
            + bytes([len(command)])
            + command
            + b"\x85R.",
            "INST": b"(S'" + command + b"'\niposix\nsystem\n.",
            "OBJ": b"\x80\x02(]X\x01\0\0\0aosystem\n.",
            "REDUCE": b"\x80\x02NN\x85R.",
            "BUILD": b"\x80\x02}}b.",
            "NEWOBJ": b"\x80\x02N)\x81.",
            "EXT1": b"\x80\x02\x82\x01.",
            "BINPERSID": b"\x80\x02NQ.",
            "NEXT_BUFFER": b"\x80\x05\x97.",
        }
        for name, payload in payloads.items():
            if name == "INST":  # not the first opcode: the machine meets the text, then INST
                payload = b"\x80\x02" + payload
            for wrapped in (payload, gzip.compress(payload), page(payload)):
                self.assert_refused(self.put("evil.pickle", wrapped), name, "at byte")
                self.assert_refused(self.put("evil.pickle", wrapped), options=("--salvage",))
        self.assertFalse(target.exists(), "the file's code ran")

    def test_absurd_counts(self):
        for payload in (
            b"\x80\x04X\xff\xff\xff\xffa",
            b"\x80\x04\x8d" + (10**15).to_bytes(8, "little") + b"a",
            b"\x80\x04\x8b\xff\xff\xff\x7fa",
            b"\x80\x04\x8b\xff\xff\xff\xffa",
            b"\x80\x04]j\xff\xff\xff\xff.",
            b"\x80\x04]r\xff\xff\xff\xffh\x05.",
            b"\x80\x04h\x00.",
            b"(lp99999999999999999999\n.",
            b"\x80\x04" + b"]" * (4 << 20),
            b"\x80\x04" + b"(" * (4 << 20),
            b"\x80\x04" + b"]\x94" * (4 << 20),
        ):
            self.assert_refused(self.put("absurd.pickle", payload), "at byte")

    def test_absurd_sizes(self):
        snapshot = make_snapshot()
        snapshot["device_traces"][0][3]["size"] = 1 << 62
        path = self.put("huge.pickle", pickle.dumps(snapshot, protocol=4))
        self.assert_refused(path, "no memory is that large")

    def test_paths(self):
        self.assert_refused(str(self.folder / "missing.pickle"), "No such file")
        (self.folder / "folder").mkdir()
        self.assert_refused(str(self.folder / "folder"), "is a directory")
        self.assert_refused(str(self.folder / ("x" * 300)), named="xxx")
        hostile = str(self.folder / "line\nbreak\x1b[31m.pickle")
        self.assert_refused(hostile, "No such file", named="break")

    def test_no_permission(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        path = self.put("secret.pickle", GOOD)
        os.chmod(path, 0)
        self.assert_refused(path, "Permission denied")

    def test_devices_that_are_not_there(self):
        path = self.put("a.pickle", GOOD)
        self.assert_refused(path, "no device 9", options=("--device", "9"))

    def test_standard_input(self):
        for command in ("report", "info"):
            for content in (b"", b"hello", GOOD[:1000]):
                result = self.run_program(command, "-", stdin=content)
                self.assert_one_line(result, 2, "standard input")
                self.assertEqual(result.stdout, b"")
        self.assertEqual(self.files(), [])

    def test_output_that_cannot_be_written(self):
        path = self.put("a.pickle", GOOD)
        self.put("thesis.md", b"# My thesis\n")
        for command in ("report", "info"):
            result = self.run_program(command, path, "--out", "no/such/place.md")
            self.assert_one_line(result, 2, "place.md")
            result = self.run_program(command, path, "--out", str(self.folder))
            self.assert_one_line(result, 2, "is a directory")
            result = self.run_program(command, path, "--out", "thesis.md")
            self.assert_one_line(result, 2, "thesis.md", "--force")
            if os.path.exists("/dev/full"):
                result = self.run_program(command, path, "--out", "/dev/full")
                self.assert_one_line(result, 2, "/dev/full")
        self.assertEqual((self.folder / "thesis.md").read_bytes(), b"# My thesis\n")
        self.assertEqual(self.files(), ["a.pickle", "thesis.md"])

    def test_a_bad_run_leaves_the_old_report(self):
        path = self.put("a.pickle", GOOD[:1000])
        report = self.put("MEM_PEAK_ANALYSIS_a.md", b"# GPU memory peaks: old\n")
        self.assert_one_line(self.run_program("report", path), 2, "a.pickle")
        self.assertEqual(pathlib.Path(report).read_bytes(), b"# GPU memory peaks: old\n")


class BadWords(ProgramTest):
    def test_words(self):
        path = self.put("a.pickle", GOOD)
        for words in (
            [],
            ["peaks", path],
            ["report"],
            ["info"],
            ["report", path, "--nonsense"],
            ["report", path, "--device", "first"],
            ["report", path, "--top-n", "0"],
            ["report", path, "--dedup-pct", "nan"],
            ["report", path, "--link-style", "github"],
            ["report", path, "--measure", "x\n\x1b[31m"],
            ["report", path, path],
            ["completion", "tcsh"],
        ):
            result = self.run_program(*words)
            with self.subTest(words=words):
                self.assert_one_line(result, 2)
                self.assertEqual(result.stdout, b"")
        self.assertEqual(self.files(), ["a.pickle"])


class GoodRuns(ProgramTest):
    def test_default_output_beside_the_snapshot(self):
        (self.folder / "runs").mkdir()
        path = self.put("runs/rank0.pickle", GOOD)
        result = self.run_program("report", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, b"")
        report = self.folder / "runs" / "MEM_PEAK_ANALYSIS_rank0.md"
        self.assertTrue(report.read_text().startswith("# GPU memory peaks"))
        self.assertIn(b"Wrote ", result.stderr)
        self.assertEqual(self.run_program("report", path, "--quiet").stderr, b"")
        self.assertEqual(self.files(), ["runs"])

    def test_all_encodings_say_the_same(self):
        contents = {}
        for protocol in range(6):
            contents[f"protocol {protocol}"] = pickle.dumps(make_snapshot(), protocol=protocol)
        contents["trailing zeros"] = GOOD + b"\0\0\0"
        contents["gzip"] = gzip.compress(GOOD)
        contents["bzip2"] = bz2.compress(GOOD)
        contents["xz"] = lzma.compress(GOOD)
        contents["zip"] = zipped(snapshot=GOOD)
        contents["torch.save"] = zipped(**{"archive/version": b"3\n", "archive/data.pkl": GOOD})
        contents["html"] = page(GOOD)
        contents["json"] = json.dumps(make_snapshot()).encode()
        contents["html in zip in gzip"] = gzip.compress(zipped(page=page(GOOD)))
        said = {}
        for name, content in contents.items():
            for way in ("file", "pipe"):
                path = self.put("a", content) if way == "file" else "-"
                stdin = b"" if way == "file" else content
                result = self.run_program("report", path, "--json", stdin=stdin)
                self.assertEqual(result.returncode, 0, (name, way, result.stderr))
                devices = json.loads(result.stdout)["devices"]
                said[name, way] = json.dumps(devices, sort_keys=True)
                info = json.loads(self.run_program("info", path, "--json", stdin=stdin).stdout)
                self.assertEqual(info["file_size_bytes"], len(content), (name, way))
        for name, devices in said.items():
            self.assertEqual(devices, said["protocol 4", "file"], name)

    def test_all_thread_counts_say_the_same(self):
        large = pickle.dumps(make_snapshot(events=60_000), protocol=4)
        self.assertGreater(len(large), 8 * 256 * 1024)
        for name, content in [("plain", large), ("gzip", gzip.compress(large, 1)),
                              ("page", page(large)), ("old", pickle.dumps(make_snapshot(), 2))]:
            path = self.put(f"{name}.pickle", content)
            reports = []
            for threads in (1, 2, 3, 7):
                result = self.run_program("report", path, "--json", "--threads",
                                          str(threads))
                self.assertEqual(result.returncode, 0, result.stderr)
                reports.append(result.stdout)
            for report in reports[1:]:
                self.assertEqual(report, reports[0], name)

    def test_memory_is_bounded_by_what_is_kept(self):
        text = json.dumps(make_snapshot()).encode()
        blanks = b" " * (300 * MIB // text.count(b"{"))
        packed = gzip.compress(text.replace(b"{", b"{" + blanks), compresslevel=1)
        path = self.put("a.json.gz", packed)
        # A process of its own, since a new one counts what its parent uses.
        measure = (
            "import os, subprocess, sys; child = subprocess.Popen(sys.argv[1:]);"
            "_, status, used = os.wait4(child.pid, 0);"
            "print('KiB', used.ru_maxrss); sys.exit(os.waitstatus_to_exitcode(status))"
        )
        result = subprocess.run(
            [sys.executable, "-c", measure, PROGRAM, "info", path],
            capture_output=True,
            timeout=120,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLess(int(result.stdout.rsplit(b"KiB", 1)[1]), 100 * 1024)

    def test_numbers(self):
        result = self.run_program("report", self.put("a.pickle", GOOD), "--json")
        device = json.loads(result.stdout)["devices"][0]
        # 40 blocks, every second freed at once: the last freed one stands on 20 that stay.
        self.assertEqual(device["peak_bytes"], 21 * 4000)
        self.assertEqual(device["end_bytes"], 20 * 4000)
        self.assertEqual(device["events"], 1 + 40 + 2 * 20)

    def test_standard_input_and_output(self):
        result = self.run_program("report", "-", stdin=GOOD)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith(b"# GPU memory peaks"))
        same = self.run_program("report", "-", "--out", "-", stdin=GOOD)
        self.assertEqual(same.stdout, result.stdout)
        path = self.put("a.pickle", GOOD)
        printed = self.run_program("report", path, "--out", "-")
        self.assertTrue(printed.stdout.startswith(b"# GPU memory peaks"))
        quiet = self.run_program("report", "-", "--json", "--out", "r.json", stdin=GOOD)
        self.assertEqual(quiet.stdout, b"")
        json.loads((self.folder / "r.json").read_text())
        self.assertEqual(self.files(), ["a.pickle", "r.json"])

    def test_json_never_writes_files_by_itself(self):
        path = self.put("a.pickle", GOOD)
        report = json.loads(self.run_program("report", path, "--json").stdout)
        self.assertTrue(report["schema"].startswith("memreplay.report/"))
        info = json.loads(self.run_program("info", path, "--json").stdout)
        self.assertTrue(info["schema"].startswith("memreplay.info/"))
        self.assertEqual(self.files(), ["a.pickle"])

    def test_several_files_one_bad(self):
        good = self.put("good.pickle", GOOD)
        other = self.put("other.pickle", GOOD)
        bad = self.put("bad.pickle", b"hello")
        result = self.run_program("info", good, bad, other)
        self.assert_one_line(result, 1, "bad.pickle")
        self.assertIn(b"good.pickle", result.stdout)
        self.assertIn(b"other.pickle", result.stdout)
        result = self.run_program("info", good, bad, other, "--json")
        self.assert_one_line(result, 1, "bad.pickle")
        self.assertEqual(len(json.loads(result.stdout)), 2)
        result = self.run_program("info", bad, bad)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, b"")
        self.assertEqual(result.stderr.count(b"\n"), 2)

    def test_a_reader_that_goes_away(self):
        path = self.put("a.pickle", GOOD)
        for command in (["report", path, "--out", "-", "--quiet"], ["info", path], ["--help"]):
            source, sink = os.pipe()
            os.close(source)
            result = subprocess.run(
                [PROGRAM, *command], stdout=sink, stderr=subprocess.PIPE, timeout=120
            )
            os.close(sink)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr, b"")

    def test_links_and_force(self):
        path = self.put("a.pickle", GOOD)
        self.put("target.md", b"# My thesis\n")
        os.symlink("target.md", self.folder / "link.md")
        words = ["report", path, "--out", "link.md"]
        self.assertEqual(self.run_program(*words).returncode, 2)
        self.assertEqual(self.run_program(*words, "--force").returncode, 0)
        self.assertTrue((self.folder / "link.md").is_symlink())
        self.assertTrue((self.folder / "target.md").read_text().startswith("# GPU memory peaks"))
        self.assertEqual(self.run_program(*words).returncode, 0)
        self.assertEqual(self.files(), ["a.pickle", "link.md", "target.md"])

    def test_salvage(self):
        path = self.put("cut.pickle", GOOD[: len(GOOD) * 9 // 10])
        result = self.run_program("report", path, "--salvage", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        device = json.loads(result.stdout)["devices"][0]
        self.assertGreater(device["events"], 40)
        self.assertLess(device["events"], 81)
        self.assertIn("file_cut", result.stdout.decode())

    def test_names_that_are_hostile(self):
        # One letter of it becomes a byte that is no UTF-8, below.
        evil = "\x1b[31mevil\n|`*"
        snapshot = make_snapshot()
        trace = snapshot["device_traces"][0]
        trace.append({"action": evil, "addr": 1, "size": 1, "stream": 0})
        trace[3]["frames"] = [frame(evil, evil, 1)]
        snapshot["brand_new" + evil] = 1
        snapshot["allocator_settings"] = {evil: evil}
        bytes_ = pickle.dumps(snapshot, protocol=4).replace(b"|`*", b"|\xff*")
        path = self.put("a.pickle", bytes_)
        for command in ("report", "info"):
            result = self.run_program(command, path, "--out", "-")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn(b"\x1b", result.stdout)
            result = self.run_program(command, path, "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn(b"\x1b", result.stdout)
            json.loads(result.stdout.decode())

    def test_names_of_files_that_are_hostile(self):
        name = b"a\xff\x1b[31m\n.pickle"
        (self.folder / os.fsdecode(name)).write_bytes(GOOD)
        for command in ("report", "info"):
            result = self.run_program(command, os.fsdecode(name), "--out", "-")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn(b"\x1b", result.stdout + result.stderr)
            result = self.run_program(command, os.fsdecode(name), "--json")
            json.loads(result.stdout.decode())

    def test_devices(self):
        snapshot = make_snapshot()
        snapshot["device_traces"].append([])
        path = self.put("a.pickle", pickle.dumps(snapshot, protocol=4))
        for device in ("0", "busiest", "all"):
            result = self.run_program("report", path, "--json", "--device", device)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertGreaterEqual(len(json.loads(result.stdout)["devices"]), 1)

    def test_snapshots_without_events(self):
        snapshot = make_snapshot()
        for document in (
            {"segments": [], "device_traces": []},
            {"segments": snapshot["segments"], "device_traces": [[]]},
            {"segments": snapshot["segments"]},
            {"device_traces": snapshot["device_traces"]},
            snapshot["segments"],
        ):
            path = self.put("a.pickle", pickle.dumps(document, protocol=4))
            for command in ("report", "info"):
                result = self.run_program(command, path, "--out", "-")
                self.assertEqual(result.returncode, 0, (list(document)[:2], result.stderr))

    def test_help(self):
        for words in ("--help", "report --help", "info --help", "completion --help", "--version"):
            result = self.run_program(*words.split())
            self.assertEqual(result.returncode, 0)
            self.assertEqual(result.stderr, b"")
            self.assertIn(b"memreplay", result.stdout)
        for shell in ("bash", "zsh", "fish"):
            self.assertIn(b"memreplay", self.run_program("completion", shell).stdout)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
        PROGRAM = sys.argv.pop(1)
    if not PROGRAM:
        sys.exit("usage: program_test.py PROGRAM")
    PROGRAM = os.path.abspath(PROGRAM)
    unittest.main()
