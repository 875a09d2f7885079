/* SPDX-License-Identifier: MIT
 *
 * style.h - svg.css and html/page.css as texts, made when the program is built.
 */
#ifndef PT_REPORT_SVG_STYLE_H
#define PT_REPORT_SVG_STYLE_H

/* The classes of all drawings, light and dark; the page has it once, a file of its own brings it along. */
extern const char pt_svg_style[];
/* How the page looks on a screen, on a phone, in the dark and on paper; stands behind pt_svg_style, which brings the
 * colours. */
extern const char pt_page_style[];
/* SHA-256 of both, one behind the other, in base64. */
extern const char pt_page_style_sha256[];

#endif
