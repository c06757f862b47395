#!/usr/bin/env python3
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
"""Holds three things together: the program's JSON, docs/schema and docs/report-schema.md.

    schema_test.py PROGRAM [unittest options]

Every command line of COMMANDS runs on made snapshots, and each object that it writes must fit the
file of docs/schema whose `schema` it names. Another schema is one more file there, whose root names
it as a constant, and one more line of COMMANDS.
"""

import copy
import decimal
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import unittest

try:
    from jsonschema import Draft202012Validator
except ImportError:
    sys.exit(
        "schema_test: this Python (%s) has no jsonschema: install Debian's python3-jsonschema "
        "and use Debian's python3" % sys.executable
    )
try:
    from referencing import Registry, Resource  # of jsonschema 4.18 and later
except ImportError:
    Registry = None
    from jsonschema import RefResolver

PROGRAM = os.environ.get("MEMREPLAY_PROGRAM", "")
ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/schema"
PAGE = ROOT / "docs/report-schema.md"

# {each} runs a command on every snapshot, {each_used} on those that have something in them,
# {training} and the like on the one of that name; further {...} of a line are further files.
# `snapshots()` has the names. The lines run in their order: of one with --write-baseline that file
# counts, and later lines read it.
PROJECT = "--project-root /home/user/proj"
COMMANDS = [
    # (command line, schema of each object that it writes)
    ("report --json %s --top-contributors 5 {each}" % PROJECT, "memreplay.report/1"),
    ("report --json --sizes block --device all --top-n 2 {each}", "memreplay.report/1"),
    ("report --json --measure active --carried-in ignore --site user {ring_buffer}",
     "memreplay.report/1"),
    ("report --json --measure reserved {two_devices}", "memreplay.report/1"),
    ("report --json --salvage {cut}", "memreplay.report/1"),
    ("info --json {each}", "memreplay.info/1"),
    ("info --json --device all --top 3 {training} {state_only} {two_devices}", "memreplay.info/1"),
    ("info --json --salvage {cut}", "memreplay.info/1"),
    ("at --json --end --device all --top 2 {each}", "memreplay.at/1"),
    ("at --json --event -1 {ring_buffer}", "memreplay.at/1"),
    ("at --json --time 0.01 --measure reserved {training}", "memreplay.at/1"),
    ("at --json --peak 2 --site user --salvage {cut}", "memreplay.at/1"),
    ("at --json --end --top 2 {training} {each}", "memreplay.at_comparison/1"),
    ("at --json --peak 1 --device all --match file {two_devices} {training}",
     "memreplay.at_comparison/1"),
    ("compare --json --top 2 {training} {each_used}", "memreplay.comparison/1"),
    ("compare --json --by whole --match function --device all {two_devices} {training}",
     "memreplay.comparison/1"),
    ("segments --json --device all --top 2 {each}", "memreplay.segments/1"),
    ("segments --json --peak 1 {training}", "memreplay.segments/1"),
    ("steps --json --by whole --top 2 {each_used}", "memreplay.steps/1"),
    ("steps --json --all-steps --top 2 {ring_buffer}", "memreplay.steps/1"),
    ("steps --json --device all {two_devices}", "memreplay.steps/1"),
    ("steps --json --by time {ascend}", "memreplay.steps/1"),
    ("steps --json --by forward --measure reserved {late_start}", "memreplay.steps/1"),
    ("leaks --json --top 1 {leak}", "memreplay.leaks/1"),
    ("leaks --json --by time {torch_2_0}", "memreplay.leaks/1"),
    ("leaks --json --by time --device all {two_devices}", "memreplay.leaks/1"),
    ("oom --json --top 2 {each_used}", "memreplay.oom/1"),
    ("oom --json --event 100 --request 3GiB --capacity 4GiB {training}", "memreplay.oom/1"),
    ("oom --json --device all {two_devices}", "memreplay.oom/1"),
    ("check --json --limit peak=1GiB --limit end=1GiB {each}", "memreplay.check/1"),
    ("check --json --limit peak=1TiB --write-baseline {baseline} {each}", "memreplay.baseline/1"),
    ("check --limit peak=1TiB --device all --write-baseline {baseline} {two_devices}",
     "memreplay.baseline/1"),
    ("check --json --top 1 --baseline {baseline} {training}", "memreplay.check/1"),
    ("check --limit peak=1TiB %s --write-baseline {baseline} {trace_only}" % PROJECT,
     "memreplay.baseline/1"),
    ("check --json --baseline {baseline} --limit end=+5MiB %s {training}" % PROJECT,
     "memreplay.check/1"),
    ("check --json --baseline {baseline} --max-site-growth 1%% --top 2 %s {leak}" % PROJECT,
     "memreplay.check/1"),
]  # fmt: skip

# Objects whose keys are the file's, not ours.
MAPS = {"settings", "actions", "profiler_steps", "config_diffs"}
# Words of the page that are neither keys nor values.
OTHER_WORDS = {"null", "report", "pickle", "json"}


def snapshots(folder):
    """Makes the snapshots; returns their paths by name. Those of the goldens, and some odd ones."""
    paths = {}
    for case in json.loads((ROOT / "tests/golden/cases.json").read_text()):
        paths[case["name"]] = folder / (case["name"] + ".pickle")
        if "file" in case:
            paths[case["name"]].write_bytes((ROOT / case["file"]).read_bytes())
            continue
        make = [sys.executable, ROOT / "tools/make_snapshot.py", *case["make"].split()]
        subprocess.run([*make, "-o", paths[case["name"]]], check=True)
    small = "--layers 2 --hidden 256 --depth 8 --stacks 30"
    for name, options in {
        "leak": "--scenario leak --steps 6 --private-pool",
        "fragmented": "--scenario oom-fragmentation",
    }.items():
        paths[name] = folder / (name + ".pickle")
        make = [sys.executable, ROOT / "tools/make_snapshot.py", *options.split(), *small.split()]
        subprocess.run([*make, "-o", paths[name]], check=True)
    training = paths["training"].read_bytes()
    trace_only = dict(pickle.loads(training), segments=[])
    odd = {
        "trace_only": pickle.dumps(trace_only),
        "as_json": json.dumps(pickle.loads(training)).encode(),
        "nothing": pickle.dumps({"segments": [], "device_traces": []}),
        "cut": training[: len(training) * 2 // 3],
    }
    for name, content in odd.items():
        paths[name] = folder / name
        paths[name].write_bytes(content)
    return paths


def load_schemas():
    return {path.name: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


def name_of(schema):
    """The `schema` that the objects of a file carry, None for a file of definitions."""
    return schema.get("properties", {}).get("schema", {}).get("const")


def parse(text):
    """JSON in which 1.0 is no integer, as it is none to readers in other languages."""
    return json.loads(text, parse_float=decimal.Decimal)


def no_such_file(uri):
    raise LookupError("no such file in docs/schema: %s" % uri)


def validator_of(name, schemas):
    """References lead to the files of docs/schema; what is not there is not asked of a network."""
    if Registry is None:
        resolver = RefResolver(name, schemas[name], store=schemas)
        resolver.resolve_remote = no_such_file
        return Draft202012Validator(schemas[name], resolver=resolver)
    files = [(file, Resource.from_contents(content)) for file, content in schemas.items()]
    # By its own name: what a file refers to in itself is found from other files as well.
    registry = Registry(retrieve=no_such_file).with_resources(files)
    return Draft202012Validator({"$ref": name}, registry=registry)


def walk_schema(schema, place):
    """Yields (place, schema) for every schema in a schema."""
    if isinstance(schema, list):
        for number, inner in enumerate(schema):
            yield from walk_schema(inner, "%s/%d" % (place, number))
    if not isinstance(schema, dict):
        return
    yield place, schema
    for word, inner in schema.items():
        if word in ("properties", "patternProperties", "$defs"):
            for key, value in inner.items():
                yield from walk_schema(value, "%s/%s/%s" % (place, word, key))
        elif word not in ("enum", "const"):
            yield from walk_schema(inner, "%s/%s" % (place, word))


def walk_objects(value, place=(), key=""):
    """Yields (place, key, object) for the objects of a JSON value, of a list's only the first."""
    if isinstance(value, dict):
        yield place, key, value
        for inner_key, inner in value.items():
            yield from walk_objects(inner, (*place, inner_key), inner_key)
    if isinstance(value, list) and value:
        yield from walk_objects(value[0], (*place, 0), key)


def keys_in(value):
    if isinstance(value, list):
        return set().union(*map(keys_in, value))
    if isinstance(value, dict):
        inner = [keys_in(value[key]) for key in value if key != "settings"]
        return set(value).union(*inner)
    return set()


def changed(document, place, change):
    """A copy whose object at `place` went through `change`."""
    document = copy.deepcopy(document)
    target = document
    for step in place:
        target = target[step]
    change(target)
    return document


class SchemaFilesTest(unittest.TestCase):
    """The files themselves."""

    def setUp(self):
        self.schemas = load_schemas()

    def test_are_schemas_with_references_that_lead_somewhere(self):
        for name, schema in self.schemas.items():
            Draft202012Validator.check_schema(schema)
            for place, inner in walk_schema(schema, name):
                if "$ref" in inner:
                    file, steps = inner["$ref"].split("#/")
                    found = self.schemas[file or name]
                    for step in steps.split("/"):
                        self.assertIn(step, found, place)
                        found = found[step]

    def test_require_every_key_that_they_name(self):
        for name, schema in self.schemas.items():
            for place, inner in walk_schema(schema, name):
                if "properties" in inner:
                    self.assertEqual(set(inner["properties"]), set(inner["required"]), place)

    def test_close_every_object(self):
        """What others extend, and the shapes in a `oneOf`, are closed by what is around them."""
        parts = set()
        for name, schema in self.schemas.items():
            for place, inner in walk_schema(schema, name):
                if "$ref" in inner and (len(inner) > 1 or "/oneOf/" in place):
                    file, path = inner["$ref"].split("#")
                    parts.add((file or name) + "#" + path)
        for name, schema in self.schemas.items():
            for place, inner in walk_schema(schema, name + "#"):
                if "properties" in inner and "/oneOf/" not in place and place not in parts:
                    closed = (inner.get("additionalProperties"), inner.get("unevaluatedProperties"))
                    self.assertIn(False, closed, place)

    def test_have_a_name_each(self):
        for name, schema in self.schemas.items():
            if name_of(schema):
                expected = "memreplay.%s/" % name.removesuffix(".schema.json")
                self.assertRegex(name_of(schema), "^" + re.escape(expected) + "[0-9]+$")
                self.assertEqual(schema["title"], name_of(schema))


class OutputTest(unittest.TestCase):
    """What the program writes."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="memreplay_schema_")
        cls.addClassCleanup(folder.cleanup)
        cls.snapshots = snapshots(pathlib.Path(folder.name))
        cls.baseline = pathlib.Path(folder.name, "baseline.json")
        schemas = load_schemas()
        cls.schemas = schemas
        cls.validators = {
            name_of(schema): validator_of(name, schemas)
            for name, schema in schemas.items()
            if name_of(schema)
        }
        cls.outputs = [output for line in COMMANDS for output in cls.outputs_of(*line)]

    @classmethod
    def outputs_of(cls, line, schema):
        """Yields (command line, schema, object)."""
        group = re.search("{(each[a-z_]*)}", line)
        left_out = {"each": {"cut"}, "each_used": {"cut", "nothing"}}[group[1]] if group else set()
        each = [path for name, path in cls.snapshots.items() if name not in left_out]
        for path in each if group else each[:1]:
            files = dict(cls.snapshots, each=path, each_used=path, baseline=cls.baseline)
            words = [word.format(**files) for word in line.split()]
            done = subprocess.run([PROGRAM, *words, "--backend", "host"], capture_output=True)
            # 1 is a part or a check that failed: what there is to say is written all the same.
            if done.returncode not in (0, 1):
                sys.exit("%s: exit %d: %s" % (words, done.returncode, done.stderr.decode()))
            in_file = "--write-baseline" in words
            written = parse(cls.baseline.read_bytes() if in_file else done.stdout)
            for document in written if isinstance(written, list) else [written]:
                yield " ".join(map(str, words)), schema, document

    def test_fits_its_schema(self):
        for line, schema, document in self.outputs:
            with self.subTest(line):
                self.assertEqual(document["schema"], schema)
                problems = [
                    "%s: %s" % ("/".join(map(str, problem.absolute_path)), problem.message[:500])
                    for problem in self.validators[schema].iter_errors(document)
                ]
                self.assertEqual(problems, [])

    def test_every_schema_is_written_by_some_command(self):
        self.assertEqual({schema for _, schema, _ in self.outputs}, set(self.validators))

    def test_every_key_of_the_schemas_is_written_by_some_command(self):
        written = set().union(*(keys_in(document) for _, _, document in self.outputs))
        for name, schema in self.schemas.items():
            for place, inner in walk_schema(schema, name):
                self.assertEqual(set(inner.get("properties", ())) - written, set(), place)

    def assert_refused(self, schema, document, what):
        self.assertFalse(self.validators[schema].is_valid(document), what)

    def test_changed_output_is_refused(self):
        """A key too few, a key too many and a value of another type, in each kind of object."""
        seen = set()
        for line, schema, document in self.outputs:
            for place, key, found in walk_objects(document):
                kind = (schema, key, *found)
                if kind in seen or "settings" in place or not found:
                    continue
                seen.add(kind)
                what = "%s: %s: " % (line, "/".join(map(str, place)))
                more = changed(document, place, lambda value: value.update(surprise=1))
                self.assert_refused(schema, more, what + "one more key")
                for name in [] if key in MAPS else found:
                    less = changed(document, place, lambda value: value.pop(name))
                    self.assert_refused(schema, less, what + "without " + name)
                    other = changed(document, place, lambda value: value.update({name: [[]]}))
                    self.assert_refused(schema, other, what + "another type of " + name)
        self.assertGreater(len(seen), 20)

    def test_bytes_with_a_point_are_refused(self):
        _, schema, document = self.outputs[0]
        point = parse('{"peak_bytes": 1.0}')
        document = changed(document, ("devices", 0), lambda value: value.update(point))
        self.assert_refused(schema, document, "1.0")


class PageTest(unittest.TestCase):
    """docs/report-schema.md names every key, and no key that is none.

    A comment before each table of keys says which definitions it is of.
    """

    def setUp(self):
        self.schemas = load_schemas()
        self.page = PAGE.read_text()
        self.places = {
            name + "#" + place.removeprefix(name): inner
            for name, schema in self.schemas.items()
            for place, inner in walk_schema(schema, name)
        }

    def test_tables_hold_the_keys_of_the_schemas(self):
        tables = re.findall(
            r"(?:^<!-- keys of (?P<places>[^>]*) -->\n\n)?"
            r"^(?:\| key \|.*)\n\|[-|: ]+\|\n(?P<rows>(?:\|.*\n)+)",
            self.page,
            flags=re.M,
        )
        self.assertGreater(len(tables), 5)
        for places, rows in tables:
            with self.subTest(rows.split("\n", 1)[0]):
                self.assertTrue(places, "a comment `keys of ...` must stand before the table")
                shown = re.findall("`([^`]+)`", "\n".join(re.findall(r"^\|([^|]*)\|", rows, re.M)))
                expected = [key for place in places.split() for key in self.keys_at(place)]
                self.assertEqual(sorted(set(shown)), sorted(set(expected)))
                self.assertEqual(len(shown), len(set(shown)), "a key stands there twice")

    def keys_at(self, place):
        self.assertIn(place, self.places, "no such definition")
        return self.places[place]["properties"]

    def test_names_every_key_and_value(self):
        shown = set(re.findall("`([^`\n]+)`", self.page))
        for place, inner in self.places.items():
            self.assertEqual(set(inner.get("properties", ())) - shown, set(), place)
            if "propertyNames" not in place:  # the actions are PyTorch's words
                self.assertEqual(set(inner.get("enum", ())) - shown, set(), place)

    def test_names_nothing_else(self):
        known = set(OTHER_WORDS)
        for inner in self.places.values():
            known.update(inner.get("properties", ()), inner.get("enum", ()))
            known.add(inner.get("const"))
        shown = set(re.findall("`([a-z_]+)`", self.page))
        self.assertEqual(shown - known, set())


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-") and os.path.isfile(sys.argv[1]):
        PROGRAM = sys.argv.pop(1)
    if not PROGRAM:
        sys.exit("usage: schema_test.py PROGRAM")
    PROGRAM = os.path.abspath(PROGRAM)
    unittest.main()
