import sys
from common import *
from training.english import fit, corpora
STEPS=int(sys.argv[1]); OUT=sys.argv[2]
docs=DATA["en_ewt","train"]+DATA["en_gum_open","train"]; cap=DATA["captions"]
sil=scap=[]
if len(sys.argv)>3:
    sil=pickle.load(open(sys.argv[3],"rb")); scap=corpora.captions(sil,random.Random(0))
t0=time.process_time()
def told(step,loss,net):
    print(step,"loss %.3f"%loss,"cpu %.0f"%(time.process_time()-t0),flush=True)
    if step in (300,700,1300,2000):
        torch.save(net.state_dict(),OUT); net.eval(); print(evaluate(net,DATA["en_ewt","dev"][::2],run=run_student,bf16=False),flush=True); net.train()
        torch.save(net.state_dict(),OUT)
net=fit.study(docs,cap,sil,scap,LAB,steps=STEPS,told=told)
torch.save(net.state_dict(),OUT)
print("end",evaluate(net,DATA["en_ewt","dev"],run=run_student,bf16=False),"|",evaluate(net,DATA["en_gum_open","dev"],run=run_student,bf16=False),flush=True)
