/* SPDX-License-Identifier: MIT
 *
 * Owns: how the page looks on a screen, on a phone, in the dark and on paper. Threads: any. Never: loads anything.
 */
#include "html.h"

const char *const pt_html_style[] = {
    /* pt_svg_style stands before this and brings the colours. */
    ":root{--card:#f5f7fa;--link:#1259a0;--ok:#14653a;--okbg:#e2f4e9;--bad:#a31515;--badbg:#fde8e7;--warn:#7a4a00;"
    "--warnbg:#fff3d9;--skip:#4a5664;--skipbg:#e9edf2}"
    "@media(prefers-color-scheme:dark){:root{--card:#182029;--link:#7db9f5;--ok:#7fdba4;--okbg:#15301f;--bad:#ff9d97;"
    "--badbg:#3c1917;--warn:#f3c26b;--warnbg:#33270f;--skip:#aeb9c6;--skipbg:#252f3a}}",
    "*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}"
    "body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;color:var(--fg);"
    "background:var(--bg);margin:0 auto;max-width:1180px;padding:24px 24px 64px;overflow-wrap:anywhere}"
    "h1{font-size:26px;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere;letter-spacing:-.01em}"
    "h2{font-size:19px;margin:40px 0 10px;padding-top:4px;letter-spacing:-.005em}h3{font-size:15px;margin:18px 0 6px}"
    "p{margin:6px 0}a{color:var(--link)}code,pre{font:13px/1.45 ui-monospace,'DejaVu Sans "
    "Mono',Menlo,Consolas,monospace}"
    "code{background:var(--card);padding:1px 5px;border-radius:4px;overflow-wrap:anywhere}"
    ".dim,.note{color:var(--dim)}.note{font-size:13px}.u{color:var(--dim);cursor:help}",
    ".meta{display:flex;flex-wrap:wrap;gap:0 20px;margin:0;color:var(--dim);font-size:14px}"
    ".meta div{display:flex;gap:6px}.meta dt{margin:0;white-space:nowrap}.meta dt:after{content:':'}.meta "
    "dd{margin:0;color:var(--fg);"
    "overflow-wrap:anywhere}"
    "nav{margin:14px 0 0;font-size:14px;display:flex;flex-wrap:wrap;gap:2px 16px}nav a{text-decoration:none}"
    "nav a:hover{text-decoration:underline}"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:18px 0;padding:0;"
    "list-style:none}.cards li{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px "
    "14px}"
    ".cards span{display:block;font-size:13px;color:var(--dim)}.cards b{display:block;font-size:22px;line-height:1.25;"
    "font-variant-numeric:tabular-nums;overflow-wrap:anywhere;margin:2px 0}",
    ".box{border:1px solid var(--line);border-left:5px solid var(--skip);border-radius:6px;padding:10px 14px;"
    "background:var(--card)}.box.good{border-left-color:var(--ok)}.box.warn{border-left-color:var(--warn)}"
    ".box.bad{border-left-color:var(--bad)}.box h2,.box h3{font-size:15px;margin:0 0 4px;padding:0}.box ul{margin:6px "
    "0 0}"
    ".badge{display:inline-block;font-size:12px;font-weight:600;line-height:1.5;padding:0 8px;border-radius:10px;"
    "color:var(--skip);background:var(--skipbg);white-space:nowrap}.badge.ok{color:var(--ok);background:var(--okbg)}"
    ".badge.failed,.badge.timeout,.badge.error{color:var(--bad);background:var(--badbg)}"
    ".badge.warning{color:var(--warn);background:var(--warnbg)}",
    ".bars{margin:10px 0}.row{display:grid;grid-template:'name plot num'/minmax(90px,170px) 1fr 84px;gap:2px 12px;"
    "align-items:center;margin:6px "
    "0}.row>*{min-width:0}.name{grid-area:name;overflow-wrap:anywhere}.plot{grid-area:plot}"
    ".num{grid-area:num;text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.bar{display:block}"
    ".bar rect{stroke:var(--bg);stroke-width:1}"
    ".legend{display:flex;flex-wrap:wrap;gap:4px 18px;list-style:none;margin:8px 0;padding:0;font-size:14px}"
    ".legend b{font-weight:600;font-variant-numeric:tabular-nums}.sw{vertical-align:-1px;margin-right:6px}",
    ".finding{border:1px solid var(--line);border-radius:8px;padding:12px 16px;margin:10px 0}"
    ".finding h3{margin:0 0 4px;display:flex;flex-wrap:wrap;gap:4px 12px;align-items:baseline}"
    ".finding h3 .t1{flex:1 1 340px}.gain{color:var(--warn);font-weight:600;white-space:nowrap}"
    ".try{margin:4px 0}.try b{font-weight:600}"
    "details{margin:8px 0}summary{cursor:pointer;color:var(--link)}details[open]>summary{margin-bottom:6px}"
    "summary:hover{text-decoration:underline}",
    ".t{overflow-x:auto;margin:8px 0;border:1px solid var(--line);border-radius:8px}"
    "table{overflow-wrap:normal;border-collapse:collapse;width:100%;font-size:14px}caption{text-align:left;padding:8px "
    "12px;font-weight:600}"
    "td,th{text-align:left;padding:6px 10px;border-top:1px solid var(--line);vertical-align:top;font-weight:400}"
    "thead th{font-weight:600;font-size:13px;color:var(--dim);white-space:nowrap;border-top:0;background:var(--card)}"
    "caption~thead th{border-top:1px solid var(--line)}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "td.s,tbody th{overflow-wrap:anywhere;min-width:110px;max-width:440px}tbody th.n{min-width:0}"
    "tbody tr:hover{background:var(--card)}td small{display:block;color:var(--dim);font-size:13px}",
    ".box+.box{margin-top:12px}.w,tbody th.w{white-space:nowrap}section>details:not(.stage)>.t caption,.wide "
    "caption{position:absolute;width:1px;height:1px;"
    "overflow:hidden;clip-path:inset(50%);padding:0}"
    "dl.kv{display:grid;grid-template-columns:minmax(110px,max-content) 1fr;gap:2px 18px;margin:6px 0;font-size:14px}"
    ".kv dt{color:var(--dim)}.kv dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}"
    "ul.plain{margin:6px 0;padding-left:20px}.plain li{overflow-wrap:anywhere}"
    "pre{background:var(--card);border:1px solid var(--line);border-radius:6px;padding:10px 12px;margin:8px 0;"
    "overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:18px 28px}"
    "figure{margin:0;min-width:0}figcaption{font-size:14px;margin-bottom:2px}"
    "figcaption "
    ".sr{display:inline-block;margin-right:16px;color:var(--dim)}.chart{display:grid;grid-template-columns:62px "
    "1fr}.chart svg{display:block;min-width:0}"
    ".flame{padding:4px}.flame>svg{display:block;min-width:760px}section>div>.sr,details>div>.sr{margin-right:16px;"
    "font-size:14px;color:var(--dim)}"
    ".paper{display:none}"
    ".defs{position:absolute;width:0;height:0}"
    "footer{margin-top:44px;padding-top:12px;border-top:1px solid var(--line);color:var(--dim);font-size:13px}",
    "@media(max-width:640px){body{padding:16px 14px 48px}h1{font-size:22px}.cards{grid-template-columns:1fr "
    "1fr;gap:8px}"
    ".cards b{font-size:19px}.row{grid-template:'name num' 'plot plot'/1fr max-content}"
    ".bar .in{display:none}td,th{padding:5px 9px}"
    /* Wide enough to be read; the name of the row stays while the rest scrolls. */
    "td.s{min-width:240px}tbody th.s{min-width:120px;max-width:150px;position:sticky;left:0;background:var(--bg)}"
    "dl.kv{grid-template-columns:1fr}.kv dd{margin-bottom:4px}}",
    /* Paper: light, nothing cut off at the edge, no fold that hides something; long tables and the details of all
     * stages but one are left to the screen, and a sentence says so. */
    "@page{margin:14mm}@media "
    "print{:root{--bg:#fff;--fg:#000;--dim:#444;--line:#bbb;--grid:#ccc;--card:#fff;--b0:#f6f6f6;"
    "--b1:#ebebeb;--link:#000;--ok:#14653a;--okbg:#fff;--bad:#a31515;--badbg:#fff;--warn:#7a4a00;--warnbg:#fff;"
    "--skip:#333;--skipbg:#fff;--hatch:#98a3b0;--hatchbg:#e4e8ed;--c0:#1765ad;--c1:#c05600;--c2:#00785a;--c3:#9c3f86;"
    "--f0:#d3dae2;--f1:#8fbdea;--f2:#f3cf6d;--f3:#dba3cf;--f4:#b6c0cb;--fi:#10161d;color-scheme:light}.flame>svg{min-"
    "width:0}"
    "body{max-width:none;padding:0;font-size:10pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}"
    "nav,.np,.cut tbody tr:nth-child(n+6),.cut .row:nth-child(n+9){display:none}.paper{display:block}.badge{border:1px "
    "solid "
    "currentColor}h2{margin-top:22px}h2,h3,caption,thead{break-after:avoid}"
    ".t{overflow:visible;border:0}table{font-size:8pt}td,th{padding:3px 5px}thead{display:table-header-group}"
    "thead th,td.n,th.n,.w,tbody th.w{white-space:normal;overflow-wrap:break-word}td.s,tbody "
    "th{min-width:0}tr,figure,.finding,.cards "
    "li,.box,.bars "
    ".row{break-inside:avoid}"
    ".figures{grid-template-columns:1fr 1fr}summary{list-style:none;color:inherit;font-weight:600}"
    "details::details-content{content-visibility:visible;display:block;block-size:auto;height:auto}"
    "details>*{display:block}details>.t>table{display:table}.h{display:none}}",
    NULL,
};
