#!/usr/bin/env bash
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# Builds memreplay and writes the peak report of the sample snapshot.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh -DMEMREPLAY_DEVELOPER_MODE=OFF
report=build/MEM_PEAK_ANALYSIS_training.md
build/memreplay report tests/data/training.pickle --project-root /home/user/proj --out "$report"
echo
head -n 40 "$report"
echo "..."
echo "The whole report: $PWD/$report"
