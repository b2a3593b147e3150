from beholder.report.drawing import draw as draw
from beholder.report.drawing import draw_figures as draw_figures
from beholder.report.figures import write_figures as write_figures
from beholder.report.graph_drawing import graph_svg as graph_svg
from beholder.report.graph_drawing import graph_text as graph_text
from beholder.report.tables import summary_table as summary_table
from beholder.report.terminal import show as show
from beholder.report.terminal import to_html as to_html
