from common import *
net=Student(LAB,0.1); net.load_state_dict(torch.load("/tmp/parse/w/l2000.pt")); net.eval()
for tb in("en_ewt","en_gum_open"):
    for g in(False,True): print(tb,"gold sentences" if g else "own",evaluate(net,DATA[tb,"dev"],gold_sents=g,run=run_student,bf16=False))
