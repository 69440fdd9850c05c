# gnuplot -c chart.gnuplot BARS SMALL LINES: the chart of make bench, as SVG. BARS is a file of lines "name|ns|ns", of a
# call and of a row; SMALL is the text below the bars, of so many lines. The colours stand for those that chart.sed gives
# them. It is so narrow, and its letters so large, that it can be read on a telephone.
set datafile separator '|'
stats ARG1 using 2 name 'call' nooutput
stats ARG1 using 3 name 'row' nooutput
n = call_records
panel = 40.0 + 26 * n
top = 44.0
bottom = 21.0 * ARG3 + 12
height = top + 2 * panel + bottom
down(y) = 1 - y / height

set terminal svg size 640, height noenhanced font 'sans-serif,14'
set multiplot
unset key
unset border
unset xtics
set style fill solid noborder
set yrange [n - 0.5 : -0.5]
set ytics scale 0
set lmargin at screen 0.27
set rmargin at screen 0.96
mine(name) = name[1:6] eq 'snowid' ? 0x0000ff : 0x808080
set label 1 'Nanoseconds: less is better' at screen 0.03, screen down(28)
set label 3 ARG2 at screen 0.03, screen down(top + 2 * panel + 20) textcolor rgb 'gray'

# A bar's number stands behind it.
set tmargin at screen down(top + 32)
set bmargin at screen down(top + panel - 8)
set xrange [0 : call_max * 1.15]
set label 2 'a call, over an empty function' at screen 0.27, screen down(top + 18)
plot ARG1 using (0):0:(0):2:($0 - 0.32):($0 + 0.32):(mine(strcol(1))):ytic(1) with boxxyerror linecolor rgb variable, \
  '' using 2:0:(sprintf('%.0f', $2)) with labels left offset 0.5, 0

unset label 1
unset label 3
set tmargin at screen down(top + panel + 32)
set bmargin at screen down(top + 2 * panel - 8)
set xrange [0 : row_max * 1.15]
set label 2 'a row of an INSERT of 1,000,000, as the default' at screen 0.27, screen down(top + panel + 18)
plot ARG1 using (0):0:(0):3:($0 - 0.32):($0 + 0.32):(mine(strcol(1))):ytic(1) with boxxyerror linecolor rgb variable, \
  '' using 3:0:(sprintf('%.0f', $3)) with labels left offset 0.5, 0
unset multiplot
