# SPDX-License-Identifier: MIT
"""Browsers, an office, media: many processes, sandboxes of their own, large heaps."""
from program import NOBODY, Program

PAGE = "printf '<html><body><h1 id=a>hello</h1><script>document.getElementById(\"a\").textContent += \" \" + (6 * 7)</script></body></html>' > a.html\n"
CHROMIUM = r"""chromium-headless-shell --disable-gpu --user-data-dir=$PWD/tmp/u {} --dump-dom file://$PWD/a.html 2>/dev/null | grep -o 'hello [0-9]*'; echo ${{PIPESTATUS[0]}}
chromium-headless-shell --disable-gpu --user-data-dir=$PWD/tmp/u {} --screenshot=$PWD/s.png --window-size=300,200 file://$PWD/a.html >/dev/null 2>&1; echo $?; rm -rf tmp home; mkdir tmp home"""

IN_FILTER = "threads that begin under the page's filter would need system calls of ours"
PROGRAMS = [
    Program("chromium_no_sandbox", CHROMIUM.format("--no-sandbox", "--no-sandbox"), needs=("chromium-headless-shell",), prepare=PAGE, timeout=120),
    Program("chromium_sandbox", CHROMIUM.format("", ""), needs=("chromium-headless-shell",), prepare=PAGE, user=NOBODY, timeout=120,
            may_lose={"frozen": IN_FILTER, "definition": IN_FILTER, "in_borrowed_memory": "a child with a thread pointer of its own has no memory of a thread to record in"}),
    Program("firefox", r"""timeout 100 firefox-esr --headless --no-remote --profile $PWD/tmp/u --window-size 300,200 --screenshot $PWD/s.png file://$PWD/a.html >/dev/null 2>&1; echo $?; rm -rf tmp home; mkdir tmp home""", needs=("firefox-esr",), prepare=PAGE + "mkdir tmp/u\n", user=NOBODY, timeout=150, may_lose={"frozen": IN_FILTER}),
    Program("libreoffice", r"""o="soffice -env:UserInstallation=file://$PWD/tmp/u --headless --norestore"; $o --convert-to pdf a.txt >/dev/null 2>&1; echo $?; head -c 5 a.pdf; echo; $o --convert-to ods b.csv >/dev/null 2>&1; $o --convert-to csv:"Text - txt - csv (StarCalc)":44,34,76 --outdir out b.ods >/dev/null 2>&1; cat out/b.csv | md5sum; rm -rf tmp home; mkdir tmp home""",
            needs=("soffice",), prepare="seq 300 > a.txt; seq 50 | awk '{ print $1 \",\" $1 * 2 }' > b.csv\n", may_differ={"files": "dates in the documents"}, timeout=150),
    Program("ffmpeg", r"""f="ffmpeg -nostdin -v error -flags +bitexact -fflags +bitexact"; $f -f lavfi -i testsrc=size=320x240:rate=25 -t 2 -threads 4 -c:v mpeg4 -f avi a.avi; sha256sum a.avi; $f -i a.avi -vf scale=160:120 -f rawvideo - | md5sum; $f -f lavfi -i sine=frequency=500 -t 2 -c:a flac s.flac; md5sum s.flac
$f -i a.avi -threads 4 -c:v libx264 -preset ultrafast -f null - ; echo $?; ffmpeg -nostdin -v quiet -f lavfi -i testsrc=size=640x480:rate=25 -re -f null - & p=$!; sleep 0.7; kill -INT $p; wait $p; echo $?""", needs=("ffmpeg",), timeout=120),
    Program("imagemagick", r"""convert -size 400x300 gradient:red-blue -distort arc 60 a.png; convert a.png -resize 150x -rotate 33 b.jpg; montage a.png b.jpg -geometry 100x100 m.png; identify -format '%f %w %h %#\n' a.png b.jpg m.png; convert none.png x.png 2>/dev/null; echo $?""", needs=("convert", "montage"), may_differ={"files": "dates in the pictures"}),
    Program("xvfb", r"""Xvfb :$((PORT % 900 + 90)) -screen 0 640x480x24 -nolisten tcp >/dev/null 2>&1 & p=$!; export DISPLAY=:$((PORT % 900 + 90)); until_true xdpyinfo; xdpyinfo | grep -c dimensions; xdpyinfo | grep -c 'depth of root'; kill $p; wait $p; echo $?""", needs=("Xvfb", "xdpyinfo")),
]
