import sys; sys.path.insert(0,"/tmp/parse")
from common import *
from training.english import ud
BUDGET=float(sys.argv[1]); OUT=sys.argv[2]; SILVER=len(sys.argv)<=3 or sys.argv[3]!="gold"
torch.manual_seed(0); rng=random.Random(0)
net=Student(len(TAGS),len(PARTS),len(RELS),0.1)
def to_ud(s): return [ud.Word(w,p,t,"_",h,r,True) for w,p,t,h,r in zip(s.words,s.parts,s.tags,s.heads,s.relations)]
def of_ud(s): return Sentence([w.form for w in s],[w.xpos for w in s],[w.upos for w in s],[w.head for w in s],[w.deprel for w in s])
golds=DATA["en_ewt","train"]+DATA["en_gum_open","train"]; gcap=[[s] for d in DATA["captions"] for s in d if npieces(s)<110]
sil=pickle.load(open("/tmp/parse/w/silver.pkl","rb")) if SILVER else []
sil=[d for d in sil if all(len(s.words)<150 for s in d)]
scap=[[of_ud(s)] for s in ud.caption_copies([to_ud(s) for d in sil for s in d],rng) if s]
print("words gold",sum(len(s.words) for d in golds for s in d),"silver",sum(len(s.words) for d in sil for s in d),"scap",sum(len(s.words) for d in scap for s in d),flush=True)
opt=torch.optim.AdamW([p for p in net.parameters() if p.requires_grad],lr=2e-3,betas=(.9,.98),weight_decay=0.02)
ema={k:v.clone() for k,v in net.state_dict().items() if v.dtype.is_floating_point and k!="pieces.weight"}
def epoch():
    lim=rng.choice((90,110,150))
    g=list(chunks(golds,lim)); out=[]
    for d in g:
        if rng.random()<.3 and len(d)>1:
            k=rng.randrange(1,len(d)); out+=[d[:k],d[k:]]
        else: out.append(d)
    out+=list(chunks(sil,lim))
    out+=rng.sample(gcap,len(gcap)//3)+rng.sample(scap,len(scap)//4)
    return batches(out,1400,rng)
t0=time.process_time();step=0;tot=0;k=0;ep=0;nxt=.25;words=0
while (fr:=(time.process_time()-t0)/BUDGET)<1:
    for bt in epoch():
        fr=(time.process_time()-t0)/BUDGET
        if fr>=1: break
        lr=2e-3*min(1,(step+1)/150)*max(0.01,1-fr); step+=1
        for gr in opt.param_groups: gr["lr"]=lr
        with torch.autocast("cpu",dtype=torch.bfloat16):
            b=P.batch([[w for s in d for w in s.words] for d in bt]); s=net(b)
            loss=losses(net.heads,s,gold(bt),b.present)
        opt.zero_grad();loss.backward();torch.nn.utils.clip_grad_norm_(net.parameters(),2.0);opt.step()
        words+=int(b.present.sum())
        dec=min(.998,step/(step+20))
        with torch.no_grad():
            sd=net.state_dict()
            for n_ in ema: ema[n_].lerp_(sd[n_],1-dec)
        tot+=loss.item();k+=1
        if k==100: print(ep,step,"loss %.3f"%(tot/k),"frac %.2f"%fr,"words",words,flush=True);tot=0;k=0
        if fr>nxt:
            nxt+=.25; print("at %.2f"%fr,evaluate(net,DATA["en_ewt","dev"][::3],run=run_student),flush=True)
            torch.save({**net.state_dict(),**ema},OUT)
    ep+=1
torch.save(net.state_dict(),OUT+".raw")
full={**net.state_dict(),**ema}; torch.save(full,OUT)
print("raw",evaluate(net,DATA["en_ewt","dev"],run=run_student),"|",evaluate(net,DATA["en_gum_open","dev"],run=run_student),flush=True)
net.load_state_dict(full)
print("ema",evaluate(net,DATA["en_ewt","dev"],run=run_student),"|",evaluate(net,DATA["en_gum_open","dev"],run=run_student),flush=True)
