"""The public names and where they come from: read by `lazy_loader` and by type checkers."""

from .mapper.runs.compare import Comparison as Comparison, compare_records as compare_records
from .mapper.formats import FORMATS as FORMATS, Job as Job, read_mapping as read_mapping, write_mapping as write_mapping
from .mapper.graphs import read_graph as read_graph
from .mapper.placements import PLACEMENTS as PLACEMENTS, as_mapping as as_mapping, place as place
from .mapper.seeds.products import rank_grids as rank_grids
from .mapper.seeds.products import best_product as best_product
from .mapper.runs.records import read_records as read_records
from .mapper.setting import Setting as Setting, setting as setting
from .mapper.choose import Plan as Plan, plan as plan
from .mapper.choose.choices import Choice as Choice
from .mapper.shapes import partition_shapes as partition_shapes, torus_shapes as torus_shapes
from .mapper.studies.node_counts import RankedShape as RankedShape, rank_shapes as rank_shapes, scale as scale
from .model.placement.allocation import Allocation as Allocation, Site as Site
from .model.decompositions import DECOMPOSITIONS as DECOMPOSITIONS, Decomposition as Decomposition
from .model.base.errors import PencilmapError as PencilmapError
from .model.placement.grid import ProcessGrid as ProcessGrid, all_grids as all_grids, parse_grid as parse_grid
from .model.machines import machine_names as machine_names
from .model.machines.machine import Machine as Machine, load_machine as load_machine
from .model.placement.allocation import Mapping as Mapping
from .model.predict.question import Question as Question
from .model.predict import Prediction as Prediction, predict as predict, routing_interval as routing_interval
from .model.predict.forecast import ScheduleForecast as ScheduleForecast
from .model.placement.product import Product as Product
from .model.kinds import ROUTINGS as ROUTINGS
from .model.schedules import SCHEDULES as SCHEDULES, parse_schedule as parse_schedule
from .model.network.torus import Torus as Torus, parse_torus as parse_torus
from .model.placement.transform import Transform as Transform, parse_transform as parse_transform

__version__: str
