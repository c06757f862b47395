#!/usr/bin/env bash
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, then configures and builds into build/. Further arguments go to cmake.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install_dependencies.sh
cmake -S . -B build -G Ninja "$@"
cmake --build build
