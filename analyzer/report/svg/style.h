/* SPDX-License-Identifier: MIT
 *
 * style.h - svg.css and html/page.css as texts, made when the program is built.
 */
#ifndef PT_REPORT_SVG_STYLE_H
#define PT_REPORT_SVG_STYLE_H

/* The classes of all drawings, light and dark; the page has it once, a file of its own brings it along. */
extern const char pt_svg_style[];
/* The layout of the page on a screen, on a phone, in the dark and on paper; comes after pt_svg_style, which has the
 * colours. */
extern const char pt_page_style[];
/* SHA-256 of both, one after the other, in base64. */
extern const char pt_page_style_sha256[];

#endif
