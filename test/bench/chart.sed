# sed -f chart.sed: gives the chart that gnuplot has made (chart.gnuplot) a title, and the colours of the other pictures
# in docs, which follow the reader's choice of light or dark.
/<defs>/,/<\/defs>/d
/^<desc>/d
/^<?xml/d
s|<title>Gnuplot</title>|<title>What an ID costs: snowid beside what one would use instead</title>\
<style>\
  text { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }\
  .small text { font-size: 12px; fill: #57606a; }\
  .page { fill: #ffffff; stroke: #d0d7de; }\
  .snowid { fill: #0969da; }\
  .other { fill: #afb8c1; }\
  @media (prefers-color-scheme: dark) {\
    text { fill: #e6edf3; }\
    .small text { fill: #9da7b3; }\
    .page { fill: #0d1117; stroke: #3d444d; }\
    .snowid { fill: #58a6ff; }\
    .other { fill: #57606a; }\
  }\
</style>|
s|<title>.* using .*</title>||
s|<rect x="0" y="0" width="\([0-9]*\)" height="\([0-9]*\)" fill="none"/>|<rect class="page" x="0.5" y="0.5" width="\1" height="\2" rx="6" transform="scale(0.9985)"/>|
s|fill = 'rgb(  0,   0, 255)'|class="snowid"|
s|fill = 'rgb(128, 128, 128)'|class="other"|
s|fill="rgb(190,190,190)"|class="small"|
s/[[:blank:]]*$//
