# SPDX-License-Identifier: MIT
# Style sheets as C: a page needs no other file, and its policy names the hash of the only sheet that counts.

# hex_to_base64(HEX OUT): of a number of bytes that leaves two over when divided by three, as a SHA-256 does (32).
function(hex_to_base64 hex out)
  set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(APPEND hex "00")
  string(LENGTH "${hex}" length)
  set(text "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${hex}" ${at} 6 six)
    math(EXPR number "0x${six}")
    foreach(shift 18 12 6 0)
      math(EXPR digit "(${number} >> ${shift}) & 63")
      string(SUBSTRING "${digits}" ${digit} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
    math(EXPR at "${at} + 6")
  endwhile()
  string(REGEX REPLACE ".$" "=" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# text_to_c(TEXT OUT): a string literal, a line of it per line of the text.
function(text_to_c text out)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# embed_texts(OUT_C HEADER NAME FILE...): const char NAME[] of each file, which the header declares.
function(embed_texts out_c header)
  set(content "/* Made by scripts/cmake/embed.cmake. */\n#include \"${header}\"\n")
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest name file)
    file(READ ${file} text)
    text_to_c("${text}" text)
    string(APPEND content "\nconst char ${name}[] =\n    ${text};\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endwhile()
  file(GENERATE OUTPUT ${out_c} CONTENT "${content}")
endfunction()

# embed_styles(SVG_CSS PAGE_CSS OUT_C): pt_svg_style, pt_page_style, and the hash of both, one behind the other.
function(embed_styles svg_css page_css out_c)
  file(READ ${svg_css} svg)
  file(READ ${page_css} page)
  string(SHA256 hex "${svg}${page}")
  hex_to_base64("${hex}" hash)
  text_to_c("${svg}" svg)
  text_to_c("${page}" page)
  file(CONFIGURE OUTPUT ${out_c} @ONLY CONTENT "/* Made from svg.css and page.css by scripts/cmake/embed.cmake. */
#include \"report/svg/style.h\"

const char pt_svg_style[] =
    @svg@;

const char pt_page_style[] =
    @page@;

const char pt_page_style_sha256[] = \"@hash@\";
")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${svg_css} ${page_css})
endfunction()
