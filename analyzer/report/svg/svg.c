/* SPDX-License-Identifier: MIT
 *
 * Owns: colours and the small pieces of drawings. Threads: any. Never: lets colour alone tell two things apart: parts
 * are labelled, series are dashed differently.
 */
#include "svg.h"

#include <math.h>
#include <stdio.h>

/* Okabe and Ito's colours and neighbours of them, told apart with any kind of colour vision; f0..f4 are the kinds of
 * frames of a flame graph, p1..p18 are the parts of a stage's time in the order of the report, c0..c3 the series of a
 * chart. */
const char *const pt_svg_style[] = {
    ":root{--bg:#fff;--fg:#1b2430;--dim:#576373;--line:#d9e0e8;--grid:#d5dce5;--b0:#f4f6f9;--b1:#e9eef4;"
    "--c0:#1765ad;--c1:#c05600;--c2:#00785a;--c3:#9c3f86;--hatch:#98a3b0;--hatchbg:#e4e8ed;"
    "--f0:#d3dae2;--f1:#8fbdea;--f2:#f3cf6d;--f3:#dba3cf;--f4:#b6c0cb;--fi:#10161d;color-scheme:light dark}"
    "@media(prefers-color-scheme:dark){:root{--bg:#11161c;--fg:#e4e9ef;--dim:#a0acba;--line:#2d3844;--grid:#333f4c;"
    "--b0:#171e26;--b1:#1f2832;--c0:#6cb1f2;--c1:#f59b4c;--c2:#4fd0a5;--c3:#e08fcf;--hatch:#6b7887;--hatchbg:#2b343f;"
    "--f0:#2c3743;--f1:#27567f;--f2:#6b4f10;--f3:#6f3566;--f4:#46525f;--fi:#f1f4f8}}",
    "svg text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:var(--fg)}"
    ".b0{fill:var(--b0)}.b1{fill:var(--b1)}.g{stroke:var(--grid);stroke-width:1}"
    "svg .bn{font-size:11px;fill:var(--dim)}"
    "svg .y,svg .x{font-size:11px;fill:var(--dim)}svg .y,svg .pk{paint-order:stroke;stroke:var(--bg);"
    "stroke-width:3px;stroke-linejoin:round}svg .pk{font-size:11px;font-weight:600}"
    ".l{fill:none;stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round}.a{stroke:none;opacity:.13}"
    ".l1{stroke-dasharray:5 3}.l2{stroke-dasharray:1.5 3}.l3{stroke-dasharray:8 3 1.5 3}"
    ".l.s0{stroke:var(--c0)}.l.s1{stroke:var(--c1)}.l.s2{stroke:var(--c2)}.l.s3{stroke:var(--c3)}"
    ".a.s0,.d.s0{fill:var(--c0)}.a.s1,.d.s1{fill:var(--c1)}.a.s2,.d.s2{fill:var(--c2)}.a.s3,.d.s3{fill:var(--c3)}"
    ".d{stroke:var(--bg);stroke-width:1.5}.lim{stroke:var(--dim);stroke-dasharray:2 4}"
    ".h{fill:transparent}.h:hover{fill:var(--fg);fill-opacity:.1}",
    ".f0{fill:var(--f0)}.f1{fill:var(--f1)}.f2{fill:var(--f2)}.f3{fill:var(--f3)}.f4{fill:var(--f4)}"
    "svg .fn{font-size:11px;fill:var(--fi);white-space:pre}svg:hover>.f0,svg:hover>.f1,svg:hover>.f2,svg:hover>.f3,"
    "svg:hover>.f4{stroke:var(--fg);stroke-width:1}svg.sw>rect{stroke:none}",
    ".p1{fill:#3b6fb6}.p2{fill:#7fb2e5}.p3{fill:#e69f00}.p4{fill:#a8560f}.p5{fill:#f2d16b}.p6{fill:#a8458f}"
    ".p7{fill:#d55e00}.p8{fill:#dfe4ea}.p9{fill:#7a1f3d}.p10{fill:#c06c84}.p11{fill:#c3cad3}.p12{fill:#8c99a8}"
    ".p13{fill:#1f6f78}.p14{fill:#6a4c93}.p15{fill:#009e73}.p16{fill:#7fd1ae}.p17{fill:#e6e07a}"
    ".p18{fill:url(#hatch)}.hb{fill:var(--hatchbg)}"
    ".hl{stroke:var(--hatch);stroke-width:1.5}svg .in{font-size:12px;fill:#10161d}svg .lt{fill:#fff}"
    "svg .un{fill:var(--fg);paint-order:stroke;stroke:var(--hatchbg);stroke-width:4px}",
    NULL,
};

const char pt_svg_patterns[] = "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                               "patternTransform=\"rotate(45)\"><rect class=\"hb\" width=\"6\" height=\"6\"/>"
                               "<line class=\"hl\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"/></pattern></defs>";

void pt_svg_share(struct pt_str *out, double part, double whole)
{
    double percent = whole > 0 && isfinite(part) ? 100 * part / whole : 0;
    percent = percent < 0 ? 0 : percent > 100 ? 100 : percent;
    pt_str_printf(out, "%.2f%%", percent);
}

struct pt_fmt pt_svg_percent(double part, double whole)
{
    struct pt_fmt fmt = {"-"};
    if (whole > 0 && isfinite(part))
        snprintf(fmt.text, sizeof fmt.text, 100 * part < 9.95 * whole ? "%.1f %%" : "%.0f %%", 100 * part / whole);
    return fmt;
}

void pt_svg_part_swatch(struct pt_str *out, pt_u32 index)
{
    pt_str_printf(out,
                  "<svg class=\"sw\" width=\"12\" height=\"12\" aria-hidden=\"true\"><rect class=\"p%u\" width=\"12\" "
                  "height=\"12\" rx=\"2\"/></svg>",
                  index);
}

void pt_svg_series_swatch(struct pt_str *out, pt_u32 index)
{
    pt_str_printf(out,
                  "<svg class=\"sw\" width=\"22\" height=\"12\" aria-hidden=\"true\"><path class=\"l s%u l%u\" "
                  "d=\"M1 6H21\"/></svg>",
                  index, index);
}
