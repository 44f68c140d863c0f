// The style sheets of pages, from the files theme.css, stacked.css and page.css. The explorer also uses the
// first two.
#pragma once

namespace allot::detail {

extern const char* const kThemeCss;
extern const char* const kStackedCss;
extern const char* const kPageCss;

}  // namespace allot::detail
