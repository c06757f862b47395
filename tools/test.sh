#!/usr/bin/env bash
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# Builds memreplay with its tests and runs them. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh -DMEMREPLAY_DEVELOPER_MODE=ON
ctest --test-dir build --output-on-failure -j "$(nproc)" "$@"
