/* Search results show excerpts by fetching pages, which browsers refuse for files on a disk. */
if (window.location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
