// What the theme leaves out: a name of its search, and tables and code that scroll by keyboard.
addEventListener("load", () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, .highlight-ipynb")) part.tabIndex = 0;
});
