/* page.c: see page.h. */
#include "cli/explore/page.h"

/* What stands in the page's HTML where it differs. */
#define STYLE "<!-- style -->"
#define SCRIPT "<!-- script -->"

typedef struct Part {
    const char *before, *text, *behind;
} Part;

static void write_part(FILE *out, const Part *p) {
    fputs(p->before, out);
    fputs(p->text, out);
    fputs(p->behind, out);
}

static void write_page(FILE *out, const Part *style, const Part *data, const Part *script) {
    const char *first = strstr(page_html, STYLE), *second = strstr(page_html, SCRIPT);
    CHECK(first && second && first < second, "the page has a place for its style and its script");
    fwrite(page_html, 1, (size_t)(first - page_html), out);
    write_part(out, style);
    first += strlen(STYLE);
    fwrite(first, 1, (size_t)(second - first), out);
    write_part(out, data);
    write_part(out, script);
    fputs(second + strlen(SCRIPT), out);
}

void page_write_served(FILE *out) {
    Part style = {"<link rel=\"stylesheet\" href=\"", "explore.css", "\">"}, none = {"", "", ""};
    write_page(out, &style, &none, &(Part){"<script src=\"", "explore.js", "\"></script>"});
}

void page_write_whole(FILE *out, const char *data) {
    static const char only_this[] =
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; script-src 'unsafe-inline'\">\n<style>\n";
    write_page(out, &(Part){only_this, page_css, "</style>"},
               &(Part){"<script type=\"application/json\" id=\"data\">", data, "</script>\n"},
               &(Part){"<script>\n", page_js, "</script>"});
}
