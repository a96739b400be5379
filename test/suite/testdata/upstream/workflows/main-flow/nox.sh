#!/bin/sh
echo from script ${who}
