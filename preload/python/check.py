# SPDX-License-Identifier: MIT
# A stack for check() to look at (check.c), in which nothing is what its neighbour is. boot.py comes after it. Names are
# ASCII: for others the compiler imports unicodedata.


class Check:
    def look(self, n):
        return (
            self.look(n - 1)
            if n else
            next(check() for _ in (0,)))


Check().look(2)
