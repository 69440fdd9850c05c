# gnuplot -c chart.gnuplot BARS MEASURED_ON: the chart of make bench, as SVG. BARS is a file of lines
# "name|draw|insert", multiples of what snowid_next() takes. The colours stand for those that chart.sed gives them.
set datafile separator '|'
stats ARG1 using 2 name 'draw' nooutput
stats ARG1 using 3 name 'insert' nooutput
n = draw_records
height = 112.0 + 26 * n
down(y) = 1 - y / height

set terminal svg size 880, height noenhanced font 'sans-serif,13'
set multiplot
unset key
unset border
unset xtics
set style fill solid noborder
set yrange [n - 0.5 : -0.5]
set tmargin at screen down(64)
set bmargin at screen down(height - 48)
mine(name) = name[1:6] eq 'snowid' ? 0x0000ff : 0x808080
set label 1 'Times as long as with snowid_next(): less is better' at screen 0.027, screen down(28)
set label 3 ARG2 at screen 0.027, screen down(height - 22) textcolor rgb 'gray'

# The first panel has the names, for both. A bar's number stands behind it.
set ytics scale 0
set lmargin at screen 0.20
set rmargin at screen 0.60
set xrange [0 : draw_max * 1.2]
set label 2 'a call, over an empty function' at screen 0.20, screen down(52)
plot ARG1 using (0):0:(0):2:($0 - 0.32):($0 + 0.32):(mine(strcol(1))):ytic(1) with boxxyerror linecolor rgb variable, \
  '' using 2:0:(sprintf('%.3g', $2)) with labels left offset 0.5, 0

unset label 1
unset label 3
unset ytics
set lmargin at screen 0.66
set rmargin at screen 0.97
set xrange [0 : insert_max * 1.2]
set label 2 'INSERT of 1,000,000 rows, as the default' at screen 0.66, screen down(52)
plot ARG1 using (0):0:(0):3:($0 - 0.32):($0 + 0.32):(mine(strcol(1))) with boxxyerror linecolor rgb variable, \
  '' using 3:0:(sprintf('%.3g', $3)) with labels left offset 0.5, 0
unset multiplot
