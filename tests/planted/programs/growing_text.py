# SPDX-License-Identifier: MIT
"""Makes a page of a table by adding each row to a text that an object holds; the fixed program keeps the rows in a list and joins them once.
Both then compute."""
import planted

ROWS, ROW = 4_000, "<tr>" + "<td>1.25</td>" * 40 + "</tr>\n"


class Page:
    def __init__(self):
        self.text, self.rows = "", []

    def add(self, row):
        self.text += row  # planted here

    def add_to_list(self, row):
        self.rows.append(row)

    def length(self):
        return len(self.text + "".join(self.rows))


def run(add):
    page = Page()
    for _ in range(ROWS):
        add(page, ROW)
    print(page.length())
    planted.compute(1)


planted.main(lambda: run(Page.add), lambda: run(Page.add_to_list))
