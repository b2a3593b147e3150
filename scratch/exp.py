import sys
from common import *
from dataclasses import asdict
from pathlib import Path
from training.english.export import export
net=Student(LAB,0.1); net.load_state_dict(torch.load(sys.argv[1])); net.eval()
export(net,asdict(LAB),Path(sys.argv[2])); print(Path(sys.argv[2]).stat().st_size)
