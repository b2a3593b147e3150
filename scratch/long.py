import sys,os
from common import *
from training.english import fit, corpora
START,OUT,SIL,RATE,DECAY=sys.argv[1],sys.argv[2],sys.argv[3],float(sys.argv[4]),int(sys.argv[5])
torch.manual_seed(5); rng=random.Random(5)
docs=DATA["en_ewt","train"]+DATA["en_gum_open","train"]; cap=DATA["captions"]
sil=pickle.load(open(SIL,"rb")) if SIL!="-" else []
sil=[d for d in sil]
full=[[s for s in d if min(s.heads)>=0] for d in sil]
scap=corpora.captions([d for d in full if d],rng)
print("silver",sum(len(s.words) for d in sil for s in d),"caps",sum(len(s.words) for d in scap for s in d),flush=True)
net=Student(LAB,0.1); net.load_state_dict(torch.load(START))
opt=torch.optim.AdamW(net.parameters(),lr=RATE,betas=(.9,.98),weight_decay=.02)
mean=torch.optim.swa_utils.AveragedModel(net,multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.996))
t0=time.process_time();tot=0;waiting=[];step=0;dec=None
while True:
    if not waiting:
        lim=rng.choice((80,100,130))
        parts=list(fit._regrouped(chunks(docs,lim),rng))
        parts+=list(chunks([[s for s in d] for d in rng.sample(sil,len(sil)//2)],lim))
        parts+=rng.sample(cap,len(cap)//3)+rng.sample(scap,min(len(scap),len(cap)//4))
        waiting=batches(parts,800,rng)
    step+=1
    if dec is None and os.path.exists("/tmp/parse/decay"): dec=step
    f=min(1,step/100) if dec is None else max(.01,1-(step-dec)/DECAY)
    for g in opt.param_groups: g["lr"]=RATE*f
    bt=waiting.pop(); b=P.batch(words_of(bt)); loss=losses(net.heads,net(b),targets(bt,LAB))
    opt.zero_grad();loss.backward();torch.nn.utils.clip_grad_norm_(net.parameters(),2.0);opt.step();mean.update_parameters(net)
    tot+=loss.item()
    if step%100==0:
        print(step,"loss %.3f"%(tot/100),"lr f %.2f"%f,"cpu %.0f"%(time.process_time()-t0),time.strftime("%H:%M"),flush=True);tot=0
        torch.save(mean.module.state_dict(),OUT); torch.save(net.state_dict(),OUT+".raw")
    if step%1000==0: print(evaluate(mean.module,DATA["en_ewt","dev"][::2],run=run_student,bf16=False),flush=True); mean.module.train()
    if dec and step-dec>=DECAY: break
print("end",evaluate(mean.module,DATA["en_ewt","dev"],run=run_student,bf16=False),"|",evaluate(mean.module,DATA["en_gum_open","dev"],run=run_student,bf16=False),flush=True)
