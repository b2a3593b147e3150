import sys
from common import *
from training.english import fit, corpora
STEPS=int(sys.argv[1]); START=sys.argv[2]; OUT=sys.argv[3]; fit.STUDENT_RATE=float(sys.argv[4])
docs=DATA["en_ewt","train"]+DATA["en_gum_open","train"]; cap=DATA["captions"]; sil=scap=[]
if len(sys.argv)>5:
    sil=pickle.load(open(sys.argv[5],"rb")); scap=corpora.captions(sil,random.Random(0))
    print("silver words",sum(len(s.words) for d in sil for s in d),"captions",sum(len(s.words) for d in scap for s in d))
start=Student(LAB,0.1); start.load_state_dict(torch.load(START))
t0=time.process_time()
def told(step,loss,net):
    print(step,"loss %.3f"%loss,"cpu %.0f"%(time.process_time()-t0),flush=True)
    torch.save(net.state_dict(),OUT)
    if step in (500,1000):
        net.eval(); print(evaluate(net,DATA["en_ewt","dev"][::2],run=run_student,bf16=False),flush=True); net.train()
net=fit.study(docs,cap,sil,scap,LAB,steps=STEPS,told=told,start=start)
torch.save(net.state_dict(),OUT)
print("end",evaluate(net,DATA["en_ewt","dev"],run=run_student,bf16=False),"|",evaluate(net,DATA["en_gum_open","dev"],run=run_student,bf16=False),flush=True)
