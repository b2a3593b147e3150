import sys
from common import *
net=Student(LAB,0.1); net.load_state_dict(torch.load(sys.argv[1])); net.eval()
print(evaluate(net,DATA["en_ewt","dev"],run=run_student,bf16=False,limit=200) if True else 0,"|",evaluate(net,DATA["en_gum_open","dev"],run=run_student,bf16=False))
