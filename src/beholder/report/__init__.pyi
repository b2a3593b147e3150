from .drawing import draw as draw
from .drawing import draw_figures as draw_figures
from .figures import write_figures as write_figures
from .graph_drawing import graph_svg as graph_svg
from .graph_drawing import graph_text as graph_text
from .tables import summary_table as summary_table
from .terminal import show as show
from .terminal import to_html as to_html
