# SPDX-License-Identifier: MIT
# Runs first, in every interpreter: as little as possible, and nothing is imported that was not. begin, end and load are
# C (builtins.h). What is about a framework waits until a program imports it.
