#!/bin/sh
exec /usr/lib/tutti/node /usr/lib/tutti/bin/tutti.js "$@"
