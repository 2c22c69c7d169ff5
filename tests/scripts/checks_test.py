#!/usr/bin/env python3
"""The scripts that hold the tree to its rules find what breaks a rule, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Tree(unittest.TestCase):
    """A small tree of its own for each test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="netwright")
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def complaints(self, script):
        """Lines that the script prints about the tree; its exit code agrees with them."""
        ran = subprocess.run([sys.executable, str(ROOT / "scripts" / script), str(self.root)],
                             capture_output=True, text=True)
        self.assertEqual(ran.stderr, "")
        lines = [line for line in ran.stdout.splitlines() if line]
        self.assertEqual(ran.returncode, 1 if lines else 0)
        return lines


class Layers(Tree):
    def test_a_tree_that_keeps_the_table_passes(self):
        self.write("base/a.hpp", "#pragma once\n#include <string>\n")
        self.write("places/b.cpp", '#include "base/a.hpp"\n')
        self.assertEqual(self.complaints("check_layers"), [])

    def test_a_folder_may_not_include_one_above_it(self):
        self.write("engine/a.hpp", "#pragma once\n")
        self.write("base/b.cpp", '\n#include "engine/a.hpp"\n')
        self.assertEqual(self.complaints("check_layers"), ["base/b.cpp:2: base may not include engine"])

    def test_a_fence_also_holds_for_headers_that_lead_through_it(self):
        self.write("engine/rocks_store.hpp", "#pragma once\n#include <rocksdb/db.h>\n")
        self.write("engine/log.hpp", '#pragma once\n#include "engine/rocks_store.hpp"\n')
        self.write("engine/fold.cpp", '#include "engine/log.hpp"\n')
        found = self.complaints("check_layers")
        self.assertEqual([line.split(" belongs")[0] for line in found],
                         ["engine/fold.cpp:1: engine/log.hpp", "engine/log.hpp:2: engine/rocks_store.hpp"])

    def test_a_header_nobody_includes_is_named(self):
        self.write("base/a.hpp", "#pragma once\n")
        self.assertEqual(self.complaints("check_layers"), ["base/a.hpp: no file includes this header"])

    def test_an_include_is_a_path_from_the_root(self):
        self.write("base/a.hpp", "#pragma once\n")
        self.write("base/b.cpp", '#include "a.hpp"\n#include "base/a.hpp"\n')
        self.assertEqual(self.complaints("check_layers"),
                         ["base/b.cpp:1: a.hpp is not a path from the root of the project"])


class Files(Tree):
    def test_a_source_of_more_than_500_lines_is_too_long(self):
        self.write("base/a.cpp", "\n" * 500)
        self.write("base/b.cpp", "\n" * 501)
        self.assertEqual(self.complaints("check_tree"),
                         ["base/b.cpp: 501 lines; 500 is the end: split it by idea"])

    def test_headers_do_not_include_each_other(self):
        self.write("base/a.hpp", '#include "base/b.hpp"\n')
        self.write("base/b.hpp", '#include "base/a.hpp"\n')
        self.assertEqual(self.complaints("check_tree"),
                         ["base/a.hpp: headers include each other: base/a.hpp -> base/b.hpp -> base/a.hpp"])

    def test_a_test_case_where_it_would_never_run_is_found(self):
        self.write("tests/base/helpers.cpp", 'TEST_CASE("x") {}\n')
        self.write("tests/base/a_test.cpp", "int x;\n")
        self.assertEqual(len(self.complaints("check_tree")), 2)

    def test_a_fuzz_target_needs_inputs(self):
        self.write("tests/base/fuzz_a.cpp", "\n")
        self.assertEqual(self.complaints("check_tree"),
                         ["tests/base/fuzz_a.cpp: no inputs in tests/base/fuzz_a_corpus/ to start from"])
        self.write("tests/base/fuzz_a_corpus/one", "1")
        self.assertEqual(self.complaints("check_tree"), [])


class Documents(Tree):
    def test_what_the_documents_name_exists(self):
        self.write("README.md", "[a](docs/a.md) and `base/b.hpp`, `scripts/NAME`\n")
        found = self.complaints("check_docs")
        self.assertIn("README.md:1: the link to docs/a.md leads nowhere", found)
        self.assertIn("README.md:1: `base/b.hpp` does not exist", found)
        self.assertFalse(any("NAME" in line for line in found))

    def test_error_codes_and_their_sections_agree(self):
        pair = 'std::pair{ErrorCode::%s, std::string_view{"%s"}}'
        self.write("base/error.cpp", "\n".join(pair % (code, code) for code in ("conflict", "limit")))
        self.write("http/status.cpp", "int status_of(ErrorCode code) {\ncase ErrorCode::conflict: return 409;")
        self.write("docs/errors.md", "### `conflict` (404)\n### `gone` (410)\n")
        found = self.complaints("check_docs")
        self.assertIn("docs/errors.md: no section for `limit`", found)
        self.assertIn("docs/errors.md: `gone` is not in base/error.cpp", found)
        self.assertIn("docs/errors.md: `conflict` says 404, http/status.cpp says 409", found)

    def test_a_promise_names_tests_that_exist(self):
        self.write("tests/base/a_test.cpp", 'TEST_CASE("one holds") {}\nTEST_CASE(\n    "a long "\n    "name"\n) {}\n')
        self.write("docs/guarantees.md", "| promise | rests on | shown by |\n|---|---|---|\n"
                   '| good | x | "one holds"; "a long name" |\n| gone | x | "two holds" |\n| bare | x | tests |\n')
        found = [line for line in self.complaints("check_docs") if "guarantees" in line]
        self.assertEqual(found, [
            'docs/guarantees.md: there is no test "two holds"',
            "docs/guarantees.md: 'bare' names no test",
        ])


if __name__ == "__main__":
    unittest.main()
