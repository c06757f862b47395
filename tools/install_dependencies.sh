#!/usr/bin/env bash
# SPDX-FileCopyrightText: The memreplay authors
# SPDX-License-Identifier: Apache-2.0
# Installs what the build needs from Debian's or Ubuntu's packages, if it is missing. Root or sudo.
set -euo pipefail

packages=(cmake ninja-build g++ pkg-config ccache git python3 python3-jsonschema
  libcli11-dev libfmt-dev nlohmann-json3-dev libarchive-dev nettle-dev libhwy-dev libxxhash-dev
  libtbb-dev libgtest-dev libgmock-dev libbenchmark-dev)
# The page of `memreplay timeline`: any Node will do to bundle it; its tests open it in Chromium.
command -v node >/dev/null 2>&1 || packages+=(nodejs)
command -v npm >/dev/null 2>&1 || packages+=(npm)
# Ubuntu has no package of it: there the tests use what MEMREPLAY_CHROMIUM names, or are skipped.
if grep -qx 'ID=debian' /etc/os-release; then packages+=(chromium); fi
# Thrust comes with a CUDA toolkit; without one the host build takes Debian's copy.
if ! command -v nvcc >/dev/null 2>&1 && [ ! -x /usr/local/cuda/bin/nvcc ]; then
  packages+=(libthrust-dev)
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
      echo "run as root, or install: ${missing[*]}" >&2
      exit 2
    fi
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
