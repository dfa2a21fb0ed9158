"""How a page looks: system fonts, one column for reading, contents beside it where there is room."""

from __future__ import annotations

STYLESHEET = """
:root {
  --paper: #fcfcfa; --ink: #1d2126; --quiet: #5b636d; --rule: #d9dce0; --link: #00568a;
  --holds: #00664a; --fails: #a03c00; --stripe: #f3f4f2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16191d; --ink: #e4e6e9; --quiet: #a2aab4; --rule: #3a4048; --link: #7cc4f0;
    --holds: #5fd0a8; --fails: #ff9d5c; --stripe: #1d2126;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 46rem; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 Charter, "Bitstream Charter", Cambria, Georgia, serif; overflow-wrap: break-word;
}
h1, h2, h3, h4, nav, table, figcaption, .mark {
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1rem; }
h2 {
  font-size: 1.4rem; line-height: 1.3; margin: 3.5rem 0 .75rem; padding-top: .75rem;
  border-top: 1px solid var(--rule);
}
h3 { font-size: 1.12rem; line-height: 1.35; margin: 2.5rem 0 .5rem; }
p { margin: 0 0 1em; }
.lead { font-size: 1.2rem; line-height: 1.5; color: var(--quiet); }
.lead b { color: var(--ink); }
code { font: .88em/1.4 ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
sub, sup { line-height: 0; font-size: .75em; }
a { color: var(--link); text-underline-offset: .15em; }
nav h2 { margin: 2rem 0 .5rem; padding: 0; border: 0; font-size: 1rem; }
nav ol { margin: 0; padding-left: 2rem; font-size: .92rem; line-height: 1.6; }
figure { margin: 1.5rem 0 2rem; }
.picture { overflow-x: auto; }
.picture img { display: block; width: 100%; padding: .5rem; background: #fff; border-radius: 4px; }
figcaption, caption { font-size: .88rem; line-height: 1.5; color: var(--quiet); text-align: left; }
figcaption { margin-top: .6rem; }
caption { padding-bottom: .5rem; }
.files { display: block; margin-top: .25rem; }
.table { overflow-x: auto; margin: 1.5rem 0 2rem; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; line-height: 1.45; }
th, td { padding: .45rem .5rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule); }
th { border-bottom: 2px solid var(--quiet); }
tbody tr:nth-child(even) { background: var(--stripe); }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
.mark { white-space: nowrap; font-weight: 600; }
.holds { color: var(--holds); }
.fails { color: var(--fails); }
.open { color: var(--quiet); }
footer {
  margin-top: 4rem; padding-top: 1rem; border-top: 1px solid var(--rule);
  font-size: .88rem; color: var(--quiet);
}
@media (min-width: 80rem) {
  body {
    max-width: 70rem; display: grid; grid-template-columns: 17rem minmax(0, 46rem); column-gap: 3.5rem;
  }
  header, main, footer { grid-column: 2; }
  nav { grid-column: 1; grid-row: 1 / span 3; position: sticky; top: 0; align-self: start; max-height: 100vh;
        overflow-y: auto; padding: 2rem 0; }
  nav h2 { margin-top: 0; }
}
@media (max-width: 40rem) {
  .picture img { min-width: 34rem; }
  .prose { min-width: 15rem; }
}
@media (max-width: 30rem) {
  body { padding: 1.5rem 1rem 3rem; font-size: 1rem; }
  h1 { font-size: 1.6rem; }
  th, td { padding: .4rem .5rem; }
}
@media print {
  :root { --paper: #fff; --ink: #000; --quiet: #444; --rule: #bbb; --link: #000; --holds: #000; --fails: #000;
          --stripe: #fff; }
  body { max-width: none; display: block; padding: 0; font-size: 10.5pt; }
  nav { position: static; max-height: none; }
  figure, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  .table, .picture { overflow: visible; }
  .picture img { min-width: 0; }
  .files { display: none; }
}
""".strip()
