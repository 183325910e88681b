#!/bin/sh
# Installs the program of a source tarball, which is built already. The recipes for conda and spack run this.
#
#   sh packaging/source/install.sh PREFIX MODULES
#
# PREFIX/bin/tutti is the command; MODULES is a folder where Python finds the module.
set -eu
: "${1:?expected the folders PREFIX and MODULES}" "${2:?expected the folders PREFIX and MODULES}"
mkdir -p "$1" "$2"
set -- "$(cd "$1" && pwd)" "$(cd "$2" && pwd)"
cd "$(dirname "$0")/../.."
program=$1/lib/tutti
mkdir -p "$1/bin" "$program" "$2"
cp -R bin dist package.json LICENSE "$program"
rm "$program/dist/sources.json"
cp python/tutti.py "$2"
# A file, not a link: it stays right if the folders are moved or packed.
printf '%s\n' '#!/usr/bin/env node' 'import("../lib/tutti/bin/tutti.js");' >"$1/bin/tutti"
chmod 755 "$1/bin/tutti"
