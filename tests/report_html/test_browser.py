#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The page in a real browser: it complains about nothing, asks for nothing, fits a phone, prints whole, and shows hostile
names as text. With REPORT_HTML_SHOTS=FOLDER the screenshots stay there for people to look at."""
import json
import os
import unittest

import browser
import page_case
from page_case import PageCase

SHOTS = os.environ.get("REPORT_HTML_SHOTS")

# Text that is cut off: wider than its box, and the box does not scroll.
CUT_OFF = """[...document.querySelectorAll('h1,h2,h3,p,dd,dt,li,td,th,summary,figcaption,.badge,.num')].filter(e => e.checkVisibility()
  && !e.closest('caption') && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display != 'inline'
  && e.getBoundingClientRect().right > innerWidth && !e.closest('.t')).map(e => e.outerHTML.slice(0, 200))"""

# Characters of the page's texts and attributes that act: controls, bidirectional ones, those of no width.
CONTROLS = """[...document.querySelectorAll('*')].flatMap(e => [...e.attributes].map(a => a.value)
  .concat([...e.childNodes].filter(n => n.nodeType == 3).map(n => n.data)))
  .filter(t => /[\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]/.test(t))"""

# Relative luminance as WCAG has it; of each text against the nearest background.
CONTRAST = """(() => {
  const rgb = c => c.match(/[\\d.]+/g).map(Number);
  const lum = c => { const [r, g, b] = rgb(c).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 });
    return .2126 * r + .7152 * g + .0722 * b };
  const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (rgb(c).length < 4 || rgb(c)[3] == 1) return c } return getComputedStyle(document.body).backgroundColor };
  const bad = [];
  for (const e of document.querySelectorAll('h1,h2,h3,p,dt,dd,li,td,th,a,b,span,summary,code,pre,small')) {
    if (!e.checkVisibility() || !e.textContent.trim()) continue;
    const [a, b] = [lum(getComputedStyle(e).color), lum(back(e))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) bad.push(ratio.toFixed(2) + ' ' + e.outerHTML.slice(0, 120));
  }
  return bad })()"""


@unittest.skipUnless(browser.find(), "no Chromium: install chromium-shell")
class Look(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = browser.Browser()
        cls.browser.__enter__()
        cls.addClassCleanup(cls.browser.__exit__)

    def show(self, path, **how):
        self.browser.open(path, **how)
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(len(self.browser.requests), 1, self.browser.requests)

    def shoot(self, name):
        if SHOTS:
            os.makedirs(SHOTS, exist_ok=True)
            self.browser.screenshot(os.path.join(SHOTS, name + ".png"))

    def width(self):
        return self.browser.value("document.documentElement.scrollWidth")

    def test_pipeline_on_every_screen(self):
        _, path = self.page(self.pipeline(), "--top", "20")
        for name, width, dark in (("wide", 1280, False), ("dark", 1280, True), ("tablet", 768, False), ("phone", 360, False),
                                  ("phone-dark", 360, True), ("watch", 320, False)):
            with self.subTest(screen=name):
                self.show(path, width=width, dark=dark)
                self.assertLessEqual(self.width(), width)
                self.assertEqual(self.browser.value(CONTRAST), [])
                self.shoot(name)
                self.browser.value("document.querySelectorAll('details').forEach(d => d.open = true)")
                self.assertLessEqual(self.width(), width)
                self.assertEqual(self.browser.value(CUT_OFF), [])
                self.assertEqual(self.browser.value(CONTRAST), [])

    def test_dark_is_dark(self):
        _, path = self.page(self.pipeline())
        shades = []
        for dark in (False, True):
            self.show(path, dark=dark)
            shades.append(self.browser.value("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(shades, ["rgb(255, 255, 255)", "rgb(17, 22, 28)"])

    def test_paper_is_readable(self):
        """In print no fold hides anything, no table is wider than the sheet (A4 without margins is 688 x 1017 pixels), and
        what would make it a book is left out with a sentence: long tables, the details of all stages but the longest."""
        _, path = self.page(self.pipeline(), "--top", "20")
        self.show(path, width=688, dark=True)
        self.browser.print_media()
        hidden = self.browser.value("[...document.querySelectorAll('details > *')].filter(e => !e.closest('.np') && !e.getBoundingClientRect().height)"
                                    ".map(e => e.outerHTML.slice(0, 100))")
        self.assertEqual(hidden, [])
        self.assertLessEqual(self.width(), 688)
        self.assertEqual(self.browser.value("getComputedStyle(document.body).color"), "rgb(0, 0, 0)")
        self.assertLessEqual(self.browser.value("document.documentElement.scrollHeight"), 15 * 1017)
        tables = self.browser.value("[...document.querySelectorAll('.t.cut')].filter(e => e.checkVisibility()).map(e => "
                                    "[(e.nextSibling.matches('.np') ? e.nextSibling.nextSibling : e.nextSibling).innerText, "
                                    "[...e.querySelectorAll('tbody tr')].filter(r => r.checkVisibility()).length])")
        self.assertTrue(tables)
        for sentence, rows in tables:
            self.assertRegex(sentence, r"^The first 5 of \d+ rows; the page on a screen has more\.$")
            self.assertEqual(rows, 5)
        stages = set(self.browser.value("[...document.querySelectorAll('details.stage')].filter(e => e.checkVisibility())"
                                        ".map(e => e.querySelector('h2').firstChild.textContent.trim())"))
        self.assertEqual(stages, {"train"})
        self.assertIn("Details are those of train, which took longest. The page on a screen has those of",
                      self.browser.value("document.querySelector('#each').innerText"))
        self.shoot("print")

    def test_parts_of_a_bar_add_up(self):
        _, path = self.page(self.pipeline())
        self.show(path)
        drawn = self.browser.value("[...document.querySelectorAll('.row')].map(r => [r.querySelector('.name').textContent, "
                                   "[...r.querySelectorAll('.bar > svg:not(.mk)')].reduce((s, e) => s + e.getBoundingClientRect().width, 0)"
                                   " / r.querySelector('.plot').getBoundingClientRect().width])")
        for (name, share), (_, _, seconds, *_) in zip(drawn, page_case.story.STAGES):
            self.assertAlmostEqual(share, seconds / 240, delta=0.003, msg=name)

    def test_one_click_leads_to_every_stage_and_finding(self):
        """Its link in the page opens whatever fold it lies in, and scrolls to it."""
        _, path = self.page(self.pipeline(), "--top", "20")
        for width in (1280, 360):
            self.show(path, width=width)
            targets = self.browser.value("[...document.querySelectorAll('nav a, .name a, .finding')]"
                                         ".map(e => e.id || e.getAttribute('href').slice(1))")
            for stage in range(len(page_case.story.STAGES)):
                self.assertIn(f"stage-{stage}", targets)
            for target in dict.fromkeys(targets):
                with self.subTest(target=target, width=width):
                    self.browser.value(f"document.querySelector('nav a[href=\"#{target}\"], .name a[href=\"#{target}\"], a.no[href=\"#{target}\"]')?.click()")
                    self.assertTrue(self.browser.value(f"document.getElementById('{target}').checkVisibility()"))
                    self.assertEqual(self.browser.value(f"[...document.querySelectorAll('details')].filter(d => !d.open && "
                                                        f"d.contains(document.getElementById('{target}'))).length"), 0)
        self.assertEqual(self.browser.complaints, [])

    def test_hostile_names_are_text(self):
        _, path = self.page(self.hostile("hostile"), "--top", "100")
        for width in (1280, 360):
            self.show(path, width=width)
            self.assertLessEqual(self.width(), width)
            self.assertEqual(self.browser.value("document.title"), "hostile - proftrace report")
            self.assertEqual(self.browser.value("document.querySelectorAll('script,img,iframe,object,embed,link,base,form,#owned').length"), 0)
            self.assertEqual(self.browser.value("[...document.querySelectorAll('*')].flatMap(e => [...e.attributes])"
                                                ".filter(a => a.name.startsWith('on')).length"), 0)
            self.assertEqual(self.browser.value(CONTROLS), [])
            logs = self.browser.value("[...document.querySelectorAll('#failures pre')].map(e => e.textContent).join('')")
            for name in page_case.HOSTILE:
                self.assertIn(name + "\n" if name.isprintable() else "gnp.exe", logs)
            self.shoot(f"hostile-{width}")

    def test_golden_stories(self):
        for name in page_case.golden_names():
            with self.subTest(story=name):
                _, path = self.page(self.golden(name))
                self.show(path, width=360)
                self.assertLessEqual(self.width(), 360)

    def test_charts_as_files(self):
        import subprocess
        folder = os.path.join(self.root, "run")
        done = subprocess.run([page_case.PROFTRACE, "run", "-o", folder, "--interval", "50", "--", "sleep", "0.4"], timeout=60,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in os.listdir(os.path.join(folder, "charts")):
            self.show(os.path.join(folder, "charts", name), width=1000)
            self.assertGreater(self.browser.value("document.querySelectorAll('path, rect').length"), 1)
            self.shoot("chart-" + name)


if __name__ == "__main__":
    unittest.main()
