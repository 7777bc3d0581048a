// SPDX-License-Identifier: Apache-2.0
// The style sheet of the page of `wyrm report`: for light and dark screens, and for paper.
#pragma once

namespace wyrm::apps {

inline constexpr char const* page_style = R"css(
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --faint: #57606a; --rule: #d0d7de;
  --c0: #0b62b0; --c1: #c2410c; --c2: #15803d; --c3: #a21caf;
  --c4: #8a6100; --c5: #0e7490; --c6: #be123c; --c7: #4b5563; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181d; --ink: #e6e9ed; --faint: #9aa4af; --rule: #343b44;
  --c0: #6cb2f5; --c1: #fb9a5e; --c2: #62d089; --c3: #e58bf0;
  --c4: #e0b84a; --c5: #5cc8dc; --c6: #ff8fa3; --c7: #b3bcc6; } }
@media print { :root { color-scheme: light; --paper: #fff; --ink: #000; --faint: #333; --rule: #bbb;
  --c0: #0b62b0; --c1: #c2410c; --c2: #15803d; --c3: #a21caf;
  --c4: #8a6100; --c5: #0e7490; --c6: #be123c; --c7: #4b5563; }
  body { max-width: none; padding: 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  section, tr { break-inside: avoid; } }
body { background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui, sans-serif; max-width: 60rem;
  margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; } p { margin: .3rem 0; }
.note, .key { color: var(--faint); font-size: .88rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .88rem; }
th, td { border-bottom: 1px solid var(--rule); padding: .2rem .7rem .2rem 0; text-align: right; vertical-align: top; }
th:first-child { text-align: left; font-weight: 600; } td { overflow-wrap: anywhere; min-width: 5rem; }
svg { width: 100%; height: auto; } svg text { fill: var(--faint); font: 12px system-ui, sans-serif; }
svg .title { fill: var(--ink); } .grid { stroke: var(--rule); stroke-width: .7; } .axis { stroke: var(--faint); }
polyline { fill: none; stroke-width: 1.6; stroke-linejoin: round; } .dashed { stroke-dasharray: 6 3; }
.dots { fill: none; stroke-width: 6; stroke-linecap: round; }
.key span { white-space: nowrap; margin-right: 1rem; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .35em; }
.s0 { stroke: var(--c0); } .s1 { stroke: var(--c1); } .s2 { stroke: var(--c2); }
.s3 { stroke: var(--c3); }
.s4 { stroke: var(--c4); } .s5 { stroke: var(--c5); } .s6 { stroke: var(--c6); } .s7 { stroke: var(--c7); }
.m0 { fill: var(--c0); } .m1 { fill: var(--c2); } .m2 { fill: var(--c4); } .m3 { fill: var(--c7); }
.m4 { fill: var(--c3); }
.m5 { fill: var(--c1); }
.b0 { background: var(--c0); } .b1 { background: var(--c1); } .b2 { background: var(--c2); }
.b3 { background: var(--c3); }
.b4 { background: var(--c4); } .b5 { background: var(--c5); } .b6 { background: var(--c6); }
.b7 { background: var(--c7); }
)css";

}  // namespace wyrm::apps
